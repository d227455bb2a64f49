// top_list: the largest values seen so far and their ids, in memory of the caller's. Values come in
// order of their ids; of equal ones the smaller id stays. -inf and NaN are never among them.
#pragma once

#include <algorithm>
#include <limits>

#include "model/decode/word_table.h"
#include "model/ops/cpu_rows.h"

namespace tandem {

struct TopList {
  Word* best;  // the largest first; room for `most`
  std::size_t most, count = 0;
  float least = -std::numeric_limits<float>::infinity();  // what a value must exceed

  // Values of the ids first, first + 1, ...
  void add(const float* values, std::int64_t n, std::int64_t first) {
    for (std::int64_t i = rows::first_above(values, least, 0, n); i < n;
         i = rows::first_above(values, least, i + 1, n)) {
      insert({values[i], static_cast<std::int32_t>(first + i)});
    }
  }

 private:
  void insert(Word word) {
    std::size_t at = count < most ? count++ : most - 1;
    for (; at > 0 && best[at - 1].log_probability < word.log_probability; --at) {
      best[at] = best[at - 1];
    }
    best[at] = word;
    if (count == most) least = best[most - 1].log_probability;
  }
};

}  // namespace tandem
