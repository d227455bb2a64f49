#include "report/verdict_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(VerdictWatch, ALongRunTakesNoMoreMemoryThanAShortOne) {
  Heard heard;
  VerdictWatch watch(heard, [] { return 0.0; });
  for (std::int64_t number = 1; number <= 100000; ++number) watch.on_step(step(number));
  watch.on_eval({});
  SUCCEED();
}

}  // namespace
}  // namespace tandem
