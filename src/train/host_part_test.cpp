#include "train/host_part.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "train/sample_run.h"

namespace tandem {
namespace {

TEST(HostPart, OneThatWasNotWrittenWholeIsNotThere) {
  const TemporaryFolder folder;
  const Comm comm;
  Transformer model(sample_model(), kSampleWords, at::kCPU, at::kFloat);
  model.initialize(5);
  const FlatParams& params = model.params();
  const Tensor common = params.values().detach();
  const HostPlace place{folder.path(), comm.world()};
  const auto write = [&](std::int64_t step, const TrainTensors& tensors) {
    TrainState state;
    state.step = step;
    write_host_part(place, state, common, params, tensors, {Json::object(), {}});
  };
  const TrainTensors whole{common, common, common, {}};
  const fs::path parts = RunFolder(folder.path()).hosts();
  // Fails in its hidden folder, which goes away.
  fs::create_directories(parts);
  EXPECT_ANY_THROW(write(7, {common, common, Tensor(), {}}));
  EXPECT_NE(host_part_problem(place, 7, common), "");
  EXPECT_TRUE(fs::is_empty(parts));

  // Back from steps 14 and 21: what is of them does not push out what is new.
  for (const std::int64_t step : {14, 21, 7}) write(step, whole);
  EXPECT_EQ(host_part_problem(place, 7, common), "");
  EXPECT_NE(host_part_problem(place, 21, common), "");
  for (const std::int64_t step : {14, 21}) write(step, whole);
  EXPECT_NE(host_part_problem(place, 7, common), "") << "two are kept";
  EXPECT_EQ(host_part_problem(place, 14, common), "");

  // A process that was killed could not take its hidden folder away.
  fs::create_directories(parts / ".0-step-00000003.partial" / "inside");
  fs::create_directories(parts / ".1-step-00000003.partial");  // another host's, on a shared disk
  write(28, whole);
  EXPECT_FALSE(fs::exists(parts / ".0-step-00000003.partial"));
  EXPECT_TRUE(fs::exists(parts / ".1-step-00000003.partial"));
}

TEST(HostPart, HasWhatItsHostCountsForItself) {
  const TemporaryFolder folder;
  const Comm comm;
  Transformer model(sample_model(), kSampleWords, at::kCPU, at::kFloat);
  const FlatParams& params = model.params();
  const Tensor common = params.values().detach();
  const HostPlace place{folder.path(), comm.world()};
  TrainState own;
  own.step = 7;
  own.updates = 5;
  own.loss_scale = {512, 3, 0, 2, 0.1};
  own.trend.seen = 4;
  const auto with_schedule = LocalState{Json::object(), {}};
  write_host_part(place, own, common, params, {common, common, common, {}}, with_schedule);
  TrainState state;  // of rank 0
  state.step = 7;
  state.loss_scale.scale = 1024;
  read_host_part(place, state, params, {common, common, common, {}});
  EXPECT_EQ(state, own);
}

}  // namespace
}  // namespace tandem
