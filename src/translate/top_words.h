// top_words: the k largest values of each row of a table of log probabilities.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tensor.h"

namespace tandem {

struct Word {
  float log_probability = 0;
  std::int32_t id = 0;
};

// logs [rows, vocabulary], fp32, any device. Result: for each row up to k words, the largest first,
// of equal ones the smaller id first. -inf and NaN are never among them.
std::vector<std::vector<Word>> top_words(const Tensor& logs, std::size_t k);

}  // namespace tandem
