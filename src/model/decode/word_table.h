// word_table: the likeliest next words of some hypotheses, which is all that a search reads of a
// model's answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

struct Word {
  float log_probability = 0;
  std::int32_t id = 0;
};

struct WordChoice {
  std::size_t most = 1;             // words a row
  std::vector<std::int32_t> never;  // ids that are left out; their probability is not spread
  std::int32_t end = 0;
};

struct WordTable {
  std::size_t most = 0;
  std::vector<Word> words;          // [rows, most]
  std::vector<std::size_t> counts;  // of each row; below `most` where there are no more
  std::vector<float> ends;          // log of the probability of choice.end, in each row

  void resize(std::size_t rows, const WordChoice& choice) {
    most = choice.most;
    words.resize(rows * most);
    counts.assign(rows, 0);
    ends.assign(rows, 0);
  }
  // The likeliest first, of equal ones the smaller id first.
  std::span<const Word> of(std::size_t row) const {
    return {words.data() + row * most, counts[row]};
  }
};

}  // namespace tandem
