#include "model/decode/projection_top.h"

#include <cmath>

namespace tandem {
namespace {

constexpr std::int64_t kRowsABlock = 12;
constexpr float kNone = -std::numeric_limits<float>::infinity();

// Their part of the matrix is half of the second cache, 256 KB, a row of them 2 KB at most.
std::int64_t columns_a_block(std::int64_t depth) {
  return std::clamp<std::int64_t>((1 << 16) / depth / 16 * 16, 64, 512);
}

}  // namespace

ProjectionTop::ProjectionTop(const StepMatrix& output, WordChoice choice)
    : output_(output),
      choice_(std::move(choice)),
      scores_(static_cast<std::size_t>(kRowsABlock * columns_a_block(output.in()))) {
  choice_.most = std::min(choice_.most, static_cast<std::size_t>(output.out()));
}

void ProjectionTop::add_block(Row& row, float* scores, std::int64_t first, std::int64_t last,
                              float& end) const {
  const std::int64_t count = last - first;
  const float most = rows::largest(scores, count);
  if (!(most <= row.most)) {
    row.total *= std::exp(static_cast<double>(row.most) - static_cast<double>(most));
    row.most = most;
  }
  row.total += static_cast<double>(rows::short_sum_of_exp(scores, row.most, count));
  if (choice_.end >= first && choice_.end < last) end = scores[choice_.end - first];
  if (most <= row.list.least) return;  // nothing for the list
  for (const std::int32_t id : choice_.never) {
    if (id >= first && id < last) scores[id - first] = kNone;
  }
  row.list.add(scores, count, first);
}

void ProjectionTop::run(const float* hidden, std::size_t rows, WordTable& words) {
  words.resize(rows, choice_);
  rows_.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    rows_.push_back({{words.words.data() + i * words.most, words.most}, kNone, 0});
  }
  const auto count = static_cast<std::int64_t>(rows);
  output_.prepare(hidden, count, input_);
  const std::int64_t columns = columns_a_block(output_.in());
  for (std::int64_t first = 0; first < output_.out(); first += columns) {
    const std::int64_t last = std::min(output_.out(), first + columns);
    for (std::int64_t i = 0; i < count; i += kRowsABlock) {
      const std::int64_t some = std::min(kRowsABlock, count - i);
      output_.times_columns(input_, i, some, first, last, scores_.data(), columns);
      for (std::int64_t k = 0; k < some; ++k) {
        const auto at = static_cast<std::size_t>(i + k);
        add_block(rows_[at], scores_.data() + k * columns, first, last, words.ends[at]);
      }
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const Row& row = rows_[i];
    const auto shift = static_cast<float>(-(std::log(row.total) + static_cast<double>(row.most)));
    words.counts[i] = row.list.count;
    words.ends[i] += shift;
    for (std::size_t k = 0; k < row.list.count; ++k) row.list.best[k].log_probability += shift;
  }
}

}  // namespace tandem
