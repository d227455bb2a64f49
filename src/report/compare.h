// compare: several runs beside each other: which settings differ, and what came out. Pure.
#pragma once

#include <string>
#include <vector>

#include "report/answers.h"

namespace tandem {

struct ComparedRow {
  std::string what;
  std::vector<std::string> values;  // one for each run; "" where it is not known
};

// Settings whose values differ, as "optim.lr"; the run's own directory is left out.
std::vector<ComparedRow> differing_settings(const std::vector<RunReport>& reports);
// Steps, time, loss, BLEU, speed and the like.
std::vector<ComparedRow> outcomes(const std::vector<RunReport>& reports);
// What the differences did, as sentences.
std::vector<std::string> comparison_sentences(const std::vector<RunReport>& reports);

Json comparison_json(const std::vector<RunReport>& reports);

}  // namespace tandem
