#include "train/worker_spread.h"

#include <ATen/ATen.h>

#include <vector>

#include "observe/seconds_spread.h"

namespace tandem {

std::optional<SecondsSpread> spread_of_workers(Comm& comm, Group among, const StepSeconds& own,
                                               std::int64_t tokens) {
  if (comm.alone()) return {};
  const at::Tensor mine =
      at::empty({static_cast<std::int64_t>(kStepPhases.size()) + 1}, at::kDouble);
  auto* numbers = mine.mutable_data_ptr<double>();
  for (double StepSeconds::*phase : kStepPhases) *numbers++ = own.*phase;
  *numbers = static_cast<double>(tokens);
  std::vector<StepSeconds> seconds;
  std::vector<double> tokens_of;
  for (const at::Tensor& worker : comm.all_gather(mine, among)) {
    const auto* read = worker.const_data_ptr<double>();
    StepSeconds& its = seconds.emplace_back();
    for (double StepSeconds::*phase : kStepPhases) its.*phase = *read++;
    tokens_of.push_back(*read);
  }
  return spread_of(seconds, tokens_of);
}

}  // namespace tandem
