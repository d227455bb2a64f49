// phase: what a worker tells the heartbeat that it does, where others must know it: how long it may
// get nothing done before it is stuck depends on that.
#pragma once

#include <string_view>

namespace tandem {

inline constexpr const char* kComputing = "forward and backward";
inline constexpr const char* kUpdating = "update";
inline constexpr const char* kExchanging = "exchange";
inline constexpr const char* kEndingStep = "end of step";  // shards and times are exchanged
inline constexpr const char* kExchangingWeights = "exchange of weights";  // between hosts apart
inline constexpr const char* kComparing = "comparison of weights";
inline constexpr const char* kEvaluating = "evaluation";
inline constexpr const char* kSampling = "samples";
inline constexpr const char* kBetweenSteps = "between steps";  // the journal is written
inline constexpr const char* kSaving = "saving";

// unwatched: before the first step, after the last, and on the way back from a divergence there is
// no telling how long things take.
enum class PhaseKind { unwatched, step, evaluation, disk };

inline PhaseKind kind_of(std::string_view phase) {
  for (const char* one :
       {kComputing, kUpdating, kExchanging, kEndingStep, kExchangingWeights, kComparing}) {
    if (phase == one) return PhaseKind::step;
  }
  if (phase == kEvaluating || phase == kSampling) return PhaseKind::evaluation;
  if (phase == kBetweenSteps || phase == kSaving) return PhaseKind::disk;
  return PhaseKind::unwatched;
}

// Ended there, what is being written would have to be written again.
inline bool may_write(std::string_view phase, bool waits) {
  const PhaseKind kind = kind_of(phase);
  return !waits && (kind == PhaseKind::disk || kind == PhaseKind::unwatched);
}

}  // namespace tandem
