#include "report/verdict_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/temporary_folder.h"
#include "observe/journal.h"
#include "report/run_log_reader.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

struct Heard final : Observer {
  void on_event(const EventRecord& record) override { texts.push_back(record.text); }
  std::vector<std::string> texts;
};

StepRecord step(std::int64_t number) {
  StepRecord r;
  r.step = number;
  r.loss = 2 + 6 * std::exp(-static_cast<double>(number) / 100);
  r.lr = 0.001;
  r.tokens = 100;
  r.seconds = {.total = 1, .forward = 0.4, .backward = 0.6};
  return r;
}

TEST(VerdictWatch, TellsAChangeOnceAndAHealthyStartNotAtAll) {
  Heard heard;
  double time = 0;
  VerdictWatch watch(heard, [&] { return time; });
  watch.on_run({});
  const auto eval = [](std::int64_t number, double valid, double slice) {
    EvalRecord r;
    r.step = number;
    r.val_loss = valid;
    r.train_loss = slice;
    return r;
  };
  std::int64_t number = 0;
  const auto train = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      time += 1;
      watch.on_step(step(++number));
    }
  };
  for (int i = 0; i < 8; ++i) {
    train(200);
    watch.on_eval(eval(number, 2.1 + 2 * std::exp(-i), 2 + 2 * std::exp(-i)));
  }
  const auto about = [&](const char* what) {
    return std::ranges::count_if(heard.texts, [&](const auto& t) { return t.starts_with(what); });
  };
  EXPECT_EQ(about("Is it overfitting?"), 0);
  for (int i = 0; i < 8; ++i) {
    train(200);
    watch.on_eval(eval(number, 2.1 + 0.1 * i, 2 - 0.05 * i));
  }
  EXPECT_EQ(about("Is it overfitting? yes"), 1);
}

TEST(VerdictWatch, TheNewestEvaluationIsPartOfTheTime) {
  Heard heard;
  double time = 0;
  VerdictWatch watch(heard, [&] { return time; });
  watch.on_run({});
  for (std::int64_t number = 1; number <= 40; ++number) {
    time += 1;
    watch.on_step(step(number));
  }
  time += 40 + 120;  // something else, then the evaluation
  EvalRecord eval;
  eval.step = 40;
  eval.seconds = 120;
  watch.on_eval(eval);
  ASSERT_EQ(heard.texts.size(), 1u);
  EXPECT_EQ(heard.texts[0],
            "Were the devices fully used? no: 20 % of the time was forward, backward and "
            "optimizer; the most was lost to evaluations (60 %)");
}

// The same records as a journal and as they come.
struct BothReadings {
  TemporaryFolder folder;
  Heard heard;
  double time = 0;
  Journal journal{folder.path() / "journal.jsonl", [this] { return time; }};
  VerdictWatch watch{heard, [this] { return time; }};

  void start(std::optional<std::int64_t> resumed_from) {
    tell([&](Observer& o) { o.on_run({resumed_from, Json::object()}); });
  }
  void train(std::int64_t first, std::int64_t last, double loss_rise) {
    for (std::int64_t number = first; number <= last; ++number) {
      time += 1;
      StepRecord record = step(number);
      record.loss += loss_rise * static_cast<double>(number - first);
      tell([&](Observer& o) { o.on_step(record); });
    }
  }
  void evaluate(std::int64_t number) {
    EvalRecord record;
    record.step = number;
    record.seconds = 3;
    time += record.seconds;
    tell([&](Observer& o) { o.on_eval(record); });
  }
  std::vector<std::string> report() const {
    std::vector<std::string> texts;
    const RunLog log = read_run_log(folder.path());
    for (const Finding& f : judge(log, totals_of(log))) {
      texts.push_back(format("{} {}", f.question, f.text));
    }
    return texts;
  }

 private:
  void tell(const std::function<void(Observer&)>& record) {
    record(journal);
    record(watch);
  }
};

TEST(VerdictWatch, SaysWhatTheReportSaysAlsoAfterARollback) {
  BothReadings run;
  run.start({});
  run.train(1, 300, 0);
  run.evaluate(300);
  run.train(301, 400, 0.1);
  run.evaluate(400);
  run.start(300);
  run.heard.texts.clear();
  run.train(301, 500, 0);
  run.evaluate(500);
  const std::vector<std::string> report = run.report();
  ASSERT_FALSE(run.heard.texts.empty());
  for (const std::string& text : run.heard.texts) {
    EXPECT_TRUE(std::ranges::count(report, text) == 1) << text;
  }
}

TEST(VerdictWatch, HearsOfARollback) {
  Heard heard;
  double time = 0;
  VerdictWatch watch(heard, [&] { return time += 1; });
  watch.on_run({});
  for (std::int64_t number = 1; number <= 40; ++number) watch.on_step(step(number));
  watch.on_run({.resumed_from = 20});
  watch.on_event({20, "rollback", "training diverged at step 40"});
  EvalRecord eval;
  eval.step = 20;
  watch.on_eval(eval);
  EXPECT_EQ(std::ranges::count(heard.texts,
                               "Was the learning rate too high or too low? yes, too high: training "
                               "diverged once and went back"),
            1);
}

TEST(VerdictWatch, ALongRunTakesNoMoreMemoryThanAShortOne) {
  Heard heard;
  VerdictWatch watch(heard, [] { return 0.0; });
  for (std::int64_t number = 1; number <= 100000; ++number) watch.on_step(step(number));
  watch.on_eval({});
  SUCCEED();
}

}  // namespace
}  // namespace tandem
