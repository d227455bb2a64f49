// seconds_spread: where the time of a step went on all workers: least, mean and most of each phase.
#pragma once

#include <array>
#include <span>

#include "observe/records.h"

namespace tandem {

inline constexpr std::array<double StepSeconds::*, 8> kStepPhases = {
    &StepSeconds::total,    &StepSeconds::data, &StepSeconds::forward,   &StepSeconds::backward,
    &StepSeconds::exchange, &StepSeconds::wait, &StepSeconds::optimizer, &StepSeconds::other};

// By rank, at least one. tokens: of each worker's part; may be left out.
SecondsSpread spread_of(std::span<const StepSeconds> workers, std::span<const double> tokens = {});

}  // namespace tandem
