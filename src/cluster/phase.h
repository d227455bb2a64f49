// phase: what a worker tells the heartbeat that it does in a step, where others must know it. While
// it computes or updates it waits for nobody: one that stays there holds up all others.
#pragma once

#include <string_view>

namespace tandem {

inline constexpr const char* kComputing = "forward and backward";
inline constexpr const char* kUpdating = "update";
inline constexpr const char* kExchanging = "exchange";
inline constexpr const char* kEndingStep = "end of step";  // shards and times are exchanged
inline constexpr const char* kExchangingWeights = "exchange of weights";  // between hosts apart

inline bool is_own_work(std::string_view phase) {
  return phase == kComputing || phase == kUpdating;
}
// All workers of a step wait for each other.
inline bool is_common(std::string_view phase) {
  return phase == kExchanging || phase == kEndingStep;
}
inline bool is_waiting(std::string_view phase) {
  return is_common(phase) || phase == kExchangingWeights;
}

}  // namespace tandem
