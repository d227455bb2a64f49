#include "train/run_summary.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr std::int64_t kParameters = 1'000'000;
constexpr std::int64_t kWeights = 4 * kParameters;  // bytes

RunConfig small_keep() {
  RunConfig config;
  config.run = "runs/x";
  config.optim.ema = 0;
  config.checkpoint.keep = 2;
  config.checkpoint.best = 1;
  return config;
}

TEST(RunSummary, TheForecastCountsAllThatIsKeptAndTheOneBeingWritten) {
  RunConfig config = small_keep();
  // Three checkpoints of weights and two moments; the best model and the last one.
  EXPECT_EQ(disk_forecast_bytes(config, kParameters), (3 * 3 + 2) * kWeights);
  config.optim.ema = 0.999;  // averaged weights, too
  EXPECT_EQ(disk_forecast_bytes(config, kParameters), (3 * 4 + 2) * kWeights);
  config.checkpoint.best = 3;
  EXPECT_EQ(disk_forecast_bytes(config, kParameters), (3 * 4 + 4) * kWeights);
  const std::int64_t exact = disk_forecast_bytes(config, kParameters);
  config.cluster.mode = ExchangeMode::local;
  EXPECT_GT(disk_forecast_bytes(config, kParameters), exact);
}

TEST(RunSummary, ADiskThatIsTooSmallForTheForecastIsToldAndNoOther) {
  const RunConfig config = small_keep();
  RunFacts facts;
  facts.parameters = kParameters;
  facts.disk_free_bytes = static_cast<std::uint64_t>(disk_forecast_bytes(config, kParameters));
  EXPECT_FALSE(disk_warning(config, facts));
  --facts.disk_free_bytes;
  const auto told = disk_warning(config, facts);
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("grows to about 44"), std::string::npos) << *told;
  EXPECT_NE(told->find("free at runs/x;"), std::string::npos) << *told;
  EXPECT_NE(told->find("checkpoint.keep"), std::string::npos) << *told;
}

}  // namespace
}  // namespace tandem
