// page: report.html, one self-contained page: opens from disk, asks the network for nothing, and
// runs no script but its own (its policy names their hashes). Pure.
#pragma once

#include <string>
#include <vector>

#include "report/answers.h"

namespace tandem {

// One run: summary, eleven answers with plots, hosts, events, samples, settings, environment.
// Several: their curves over each other, what differs, and the answers of each.
std::string report_page(const std::vector<RunReport>& reports);

}  // namespace tandem
