#include "report/answers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/temporary_folder.h"
#include "report/synthetic_run.h"

namespace tandem {
namespace {

TEST(Answers, AnEmptyJournalAnswersNothing) {
  const TemporaryFolder folder;
  for (const Finding& f : report_of(folder.path(), RunLog{}).answers) {
    EXPECT_EQ(f.verdict, Ruling::cannot_tell) << f.question << " " << f.text;
    EXPECT_EQ(f.confidence, Confidence::none) << f.question << " " << f.text;
  }
}

// Answer 6 of a run of 200 steps with this schedule, up to its judgement.
std::string course(const char* schedule, std::int64_t warmup,
                   std::function<double(std::int64_t)> rate) {
  SyntheticRun run;
  run.steps = 200;
  run.lr = std::move(rate);
  RunLog log = run.log();
  const Json optim = Json::object().set("schedule", schedule).set("warmup_steps", warmup);
  log.starts.front().record.facts.set("settings", Json::object().set("optim", optim));
  const std::string text = report_of("a", std::move(log)).answers.at(5).text;
  return text.substr(0, text.find("; too high"));
}

TEST(Answers, ARateThatDidNotFallIsNotSaidToHaveFallen) {
  const auto warm = [](std::int64_t step, double then) {
    return step < 20 ? then * static_cast<double>(step) / 20 : then;
  };
  EXPECT_EQ(course("constant", 20, [&](std::int64_t s) { return warm(s, 0.003); }),
            "constant: it rose from 0.00015 to 0.003 at step 20 and stayed there");
  EXPECT_EQ(course("constant", 0, [](std::int64_t) { return 0.003; }),
            "constant: it was 0.003 from the first step to the last");
  EXPECT_EQ(course("constant", 400, [](std::int64_t s) { return 0.01 * static_cast<double>(s); }),
            "constant: it rose from 0.01 to 2 at step 200; the warm-up of 400 steps was not over");
}

TEST(Answers, EveryScheduleIsToldAsItWent) {
  const auto way = [](std::int64_t step) { return (static_cast<double>(step) - 20) / 180; };
  const auto decay = [](std::int64_t s) {
    return 0.003 * std::sqrt(20.0 / static_cast<double>(s));
  };
  const auto after_warmup = [](auto rate) {
    return [=](std::int64_t s) { return s < 20 ? 0.003 * static_cast<double>(s) / 20 : rate(s); };
  };
  const std::string rise = ": it rose from 0.00015 to 0.003 at step 20 and fell to ";
  for (const char* schedule : {"transformer_policy", "inverse_sqrt"}) {
    EXPECT_EQ(course(schedule, 20, after_warmup(decay)), schedule + rise + "0.000949 at step 200");
  }
  EXPECT_EQ(
      course("linear", 20, after_warmup([&](std::int64_t s) { return 0.003 * (1 - way(s)); })),
      "linear" + rise + "0 at step 200");
  EXPECT_EQ(
      course("linear", 1, [](std::int64_t s) { return 0.003 - 1e-5 * static_cast<double>(s); }),
      "linear: it began at its highest, 0.00299, and fell to 0.001 at step 200");
  EXPECT_EQ(course("cosine", 20, after_warmup([&](std::int64_t s) {
                     return 0.0003 + 0.00135 * (1 + std::cos(std::numbers::pi * way(s)));
                   })),
            "cosine" + rise + "0.0003 at step 200");
}

TEST(Answers, PairsThatAreTooLongAreNotCalledUsed) {
  RunLog log = SyntheticRun{.steps = 30}.log();
  const auto answer = [&](Json train) {
    log.starts.front().record.facts.set("data", Json::object().set("train", std::move(train)));
    return report_of("a", log).answers.at(6);
  };
  Json train = Json::object().set("pairs", 1200).set("lines", 1300).set("src_bytes", 4000);
  EXPECT_NE(answer(train).text.find("1,300 lines, 1,200 pairs;"), std::string::npos);
  EXPECT_NE(answer(train).text.find("4 kB of text"), std::string::npos) << answer(train).text;
  EXPECT_EQ(answer(train).evidence.find("pairs_used"), nullptr) << "an older journal";
  train.set("left_out", 0);
  EXPECT_EQ(answer(train).evidence.at("pairs_used").as_double(), 1200);
  train.set("left_out", 150);
  EXPECT_NE(answer(train).text.find(
                "1,200 pairs, of which 150 are longer than data.max_length and left out;"),
            std::string::npos)
      << answer(train).text;
  EXPECT_EQ(answer(train).evidence.at("pairs_used").as_double(), 1050);
}

TEST(Answers, AnEvaluationWithoutALossIsNeverTheBest) {
  RunLog log = SyntheticRun{.evals = 5}.log();
  log.evals.front().record.val_loss = NAN;
  EXPECT_EQ(headline(report_of("a", log)).find("nan"), std::string::npos);
  EXPECT_EQ(best_eval(log), &log.evals.back().record);
  for (auto& eval : log.evals) eval.record.val_loss = NAN;
  EXPECT_EQ(best_eval(log), nullptr);
  EXPECT_EQ(headline(report_of("a", log)).find("validation"), std::string::npos);
}

}  // namespace
}  // namespace tandem
