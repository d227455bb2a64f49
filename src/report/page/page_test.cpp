#include "report/page/page.h"

#include <gtest/gtest.h>

#include "report/compare.h"
#include "report/report_json.h"
#include "report/synthetic_run.h"

namespace tandem {
namespace {

RunReport report(const std::string& name) {
  SyntheticRun run;
  run.workers = 2;
  run.exchange = 0.3;
  RunLog log = run.log();
  log.events.push_back({1.7e9, {5, "warning", "<img src=x onerror=alert(1)> @BODY@"}});
  return report_of("runs/" + name, std::move(log));
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

TEST(Page, HasElevenAnswersAndStaysSmall) {
  const std::string page = report_page({report("a")});
  for (int i = 1; i <= 11; ++i) EXPECT_NE(page.find(format("<h3>{}. ", i)), std::string::npos) << i;
  EXPECT_LT(page.size(), 3000000u);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
}

TEST(Page, TextFromOutsideStaysText) {
  const std::string page = report_page({report("</script><script>alert(1)</script>")});
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("onerror=alert(1)&gt; @BODY@"), std::string::npos);  // marks in data stay
  EXPECT_EQ(count(page, "</script>"), 3u);
}

TEST(ReportJson, HasTheShapeThatScriptsRelyOn) {
  const Json json = report_json(report("a"));
  ASSERT_EQ(json.at("answers").items().size(), 11u);
  std::int64_t id = 0;
  for (const Json& answer : json.at("answers").items()) {
    EXPECT_EQ(answer.at("id").as_int(), ++id);
    EXPECT_FALSE(answer.at("question").as_string().empty());
    EXPECT_FALSE(answer.at("verdict").as_string().empty());
    EXPECT_TRUE(answer.at("evidence").is_object());
    EXPECT_TRUE(answer.at("confidence").is_string());
    EXPECT_TRUE(answer.at("advice").is_string());
  }
  EXPECT_EQ(json.at("answers").items()[4].at("class").as_string(), "yes");
  EXPECT_EQ(json.at("summary").at("steps").as_int(), 2000);
}

TEST(Page, GoingBackIsNoStart) {
  RunLog log = SyntheticRun{}.log();
  const double end = log.last_time;
  Timed<RunRecord> again = log.starts.front();
  for (int i = 1; i <= 3; ++i) {
    again.time = end - 10 * (4 - i);
    again.record.resumed_from = 100 * i;
    log.starts.push_back(again);
    log.events.push_back({again.time, {100 * i, "rollback", "training diverged; went back"}});
  }
  again.time = end - 1;
  again.record.resumed_from = 900;
  log.starts.push_back(again);
  const RunReport r = report_of("a", log);
  EXPECT_NE(r.answers[0].text.find(", in 2 starts; it diverged and went back 3 times"),
            std::string::npos)
      << r.answers[0].text;
  EXPECT_EQ(r.answers[0].evidence.at("starts").as_int(), 2);
  EXPECT_NE(r.answers[5].text.find("yes, too high: training diverged 3 times"), std::string::npos);
  const std::string page = report_page({r});
  EXPECT_EQ(count(page, "<th>start</th>"), 2u);
  EXPECT_EQ(count(page, "<th>rollback</th>"), 3u);
}

TEST(Compare, NamesTheWorstRunBesideTheBest) {
  std::vector<RunReport> all;
  for (const auto& [name, loss] : {std::pair{"a", 3.0}, {"b", 1.0}, {"c", 2.0}}) {
    RunLog log;
    EvalRecord nothing, eval;
    nothing.val_loss = NAN;
    eval.val_loss = loss;
    log.evals = {{1, nothing}, {2, eval}};
    all.push_back(report_of(name, log));
  }
  const auto sentences = comparison_sentences(all);
  EXPECT_EQ(sentences.at(1), "b has the best validation loss: 1.0000, against 3.0000 of a.");
}

TEST(Compare, NamesTheSettingsThatDiffer) {
  RunReport a = report("a"), b = report("b");
  const auto settings = [](double lr) {
    return Json::object().set(
        "settings",
        Json::object().set("run", "x").set("seed", 1).set("optim", Json::object().set("lr", lr)));
  };
  a.log.starts.back().record.facts = settings(1);
  b.log.starts.back().record.facts = settings(2);
  std::vector<RunReport> both;
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  const auto rows = differing_settings(both);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].what, "optim.lr");
  EXPECT_EQ(rows[0].values, (std::vector<std::string>{"1.0", "2.0"}));
  EXPECT_NE(report_page(both).find("optim.lr"), std::string::npos);
  EXPECT_EQ(comparison_json(both).at("runs").items().size(), 2u);
}

}  // namespace
}  // namespace tandem
