// plots: the curves of runs, thinned out for a page: means over buckets of steps. Pure.
#pragma once

#include <vector>

#include "base/json.h"
#include "report/answers.h"

namespace tandem {

inline constexpr std::size_t kMostPoints = 1000;  // of a curve

// {"loss": {"title", "xlabel", "x": [...], "series": [{"name", "values": [...]}], ...}, ...}.
// One run: every plot there is something for. Several: those that can be laid over each other.
Json plots_of(const RunReport& report);
Json comparison_plots(const std::vector<RunReport>& reports);

}  // namespace tandem
