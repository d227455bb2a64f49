#include "cluster/step_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem {

ComputeSeconds compute_of(double seconds) {
  ComputeSeconds compute;
  compute.forward = seconds / 3;
  compute.backward = seconds - compute.forward;
  return compute;
}

ComputeSeconds scaled_compute(const ComputeSeconds& compute, double factor) {
  ComputeSeconds scaled = compute;
  scaled.forward *= factor;
  scaled.backward *= factor;
  const double micro_batches = std::ceil(static_cast<double>(compute.micro_batches) * factor);
  scaled.micro_batches = std::max<std::int64_t>(1, std::llround(micro_batches));
  return scaled;
}

std::vector<ReadyPiece> make_buckets(std::span<const ReadyPiece> pieces, double most_values) {
  check(most_values > 0, "a bucket holds something");
  std::vector<ReadyPiece> buckets;
  ReadyPiece open;
  const auto close = [&] {
    if (open.values > 0) buckets.push_back(open);
    open = {};
  };
  for (const ReadyPiece& piece : pieces) {
    if (open.values + piece.values > most_values) close();
    double left = piece.values;
    for (; left > most_values; left -= most_values) buckets.push_back({most_values, piece.ready});
    open.values += left;
    open.ready = piece.ready;
  }
  close();
  return buckets;
}

StepReplay replay_step(const ComputeSeconds& compute, std::span<const ReadyPiece> buckets,
                       const TravelCost& cost) {
  const double computed = compute.other + compute.forward + compute.backward;
  const double last_backward = compute.backward / static_cast<double>(compute.micro_batches);
  StepReplay replay;
  double free_at = 0;
  for (const ReadyPiece& bucket : buckets) {
    const double ready_at = computed - last_backward * (1 - bucket.ready);
    const double travel =
        std::max(cost.least_seconds, cost.fixed_seconds + cost.per_value_seconds * bucket.values);
    free_at = std::max(free_at, ready_at) + travel;
    replay.travel_seconds += travel;
  }
  const double arrived = buckets.empty() ? 0 : free_at + cost.latency_seconds;
  replay.exposed_seconds = std::max(0.0, arrived - computed);
  replay.step_seconds = computed + replay.exposed_seconds + compute.optimizer;
  return replay;
}

TravelCost cost_from_two(double few_values, double few_seconds, double many_values,
                         double many_seconds) {
  check(many_values > few_values && few_values > 0, "two sizes that differ");
  TravelCost cost;
  cost.per_value_seconds = (many_seconds - few_seconds) / (many_values - few_values);
  if (cost.per_value_seconds <= 0) cost.per_value_seconds = many_seconds / many_values;
  cost.latency_seconds = std::max(0.0, few_seconds - cost.per_value_seconds * few_values);
  return cost;
}

}  // namespace tandem
