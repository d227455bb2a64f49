// step_model: how long a step takes when gradients leave while backward still runs: a replay, event
// by event. Pure. One queue: a bucket travels when it is ready and the one before has arrived.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

// What one worker computes in a step, without any communication.
struct ComputeSeconds {
  double forward = 0, backward = 0, optimizer = 0;
  double other = 0;                // data, zeroing, bookkeeping
  std::int64_t micro_batches = 1;  // only the last one's backward has complete gradients
  double total() const { return forward + backward + optimizer + other; }
};
// A third of the time forward, two thirds backward: what matrix products cost.
ComputeSeconds compute_of(double seconds);
// For another number of tokens: the optimizer does not depend on it.
ComputeSeconds scaled_compute(const ComputeSeconds& compute, double factor);

// Gradients that become complete together.
struct ReadyPiece {
  double values = 0;
  double ready = 0;  // share of the backward pass that is over then, 0 to 1
};

// Pieces in the order in which they become ready to buckets of at most so many values. A piece that
// is larger (the embedding) is cut; several small ones go together and wait for the last of them.
std::vector<ReadyPiece> make_buckets(std::span<const ReadyPiece> pieces, double most_values);

// A bucket holds the queue for fixed + per_value * values, but never less than `least`; it arrives
// `latency` later, while the next one travels already.
struct TravelCost {
  double fixed_seconds = 0, per_value_seconds = 0, latency_seconds = 0, least_seconds = 0;
};

struct StepReplay {
  double step_seconds = 0;
  double exposed_seconds = 0;  // the worker has computed all and waits
  double travel_seconds = 0;   // the queue was busy
};
StepReplay replay_step(const ComputeSeconds& compute, std::span<const ReadyPiece> buckets,
                       const TravelCost& cost);

// The cost from the real exchange of two sizes, each in its buckets: the line through both points,
// never below zero. What does not grow with the size is latency.
TravelCost cost_from_two(double few_values, double few_seconds, double many_values,
                         double many_seconds);

}  // namespace tandem
