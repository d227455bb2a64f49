#include "report/plots.h"

#include <gtest/gtest.h>

#include "report/synthetic_run.h"

namespace tandem {
namespace {

std::vector<double> numbers(const Json& values) {
  std::vector<double> out;
  for (const Json& value : values.items()) out.push_back(value.as_double());
  return out;
}

TEST(Plots, APauseBetweenStartsTakesNoRoom) {
  constexpr double kHour = 3600, kBegin = 1.7e9;
  SyntheticRun run;
  run.steps = 400;
  RunLog log = run.log();
  const double end = log.systems.back().time, back = end + 10 * kHour;
  const std::size_t samples = log.systems.size();
  log.starts.push_back({back, log.starts.back().record});
  for (std::size_t i = 0; i < samples; ++i) {
    auto sample = log.systems[i];
    sample.time += back - kBegin;
    log.systems.push_back(sample);
  }
  const auto x = numbers(plots_of(report_of("a", log)).at("use").at("x"));
  ASSERT_EQ(x.size(), 2 * samples);
  EXPECT_EQ(x.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(x));
  EXPECT_NEAR(x.back(), 2 * (end - kBegin) / 60, 0.01);
}

TEST(Plots, WhereAStepGoesIsTheMeanOfTheWorkers) {
  SyntheticRun run;
  RunLog log = run.log();
  for (StepPoint& p : log.steps) p.mean.wait = 0.25;
  const Json plot = plots_of(report_of("a", log)).at("step_parts");
  for (const Json& series : plot.at("series").items()) {
    if (series.at("name").as_string() != "wait") continue;
    EXPECT_EQ(numbers(series.at("values")).front(), 250);
  }
}

TEST(Plots, ComparedRunsKeepEveryDigitOfTheirSteps) {
  RunLog log;
  StepPoint p;
  p.step = 1234567;
  log.steps = {p};
  std::vector<RunReport> both;
  for (const char* name : {"a", "b"}) both.push_back(report_of(name, log));
  EXPECT_EQ(numbers(comparison_plots(both).at("train_loss").at("x")).front(), 1234567);
}

}  // namespace
}  // namespace tandem
