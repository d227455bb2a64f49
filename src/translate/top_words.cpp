#include "translate/top_words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "model/ops/cpu_rows.h"

namespace tandem {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

constexpr std::int64_t kBlock = 64;  // of rows::next_above: nearly all have nothing to add

std::vector<Word> top_of_row(std::span<const float> row, std::size_t k) {
  std::vector<Word> best;
  best.reserve(k + 1);
  float least = kImpossible;  // what a value must exceed
  const auto take = [&](std::size_t id) {
    if (!(row[id] > least)) return;
    const auto place =
        std::ranges::upper_bound(best, row[id], std::ranges::greater{}, &Word::log_probability);
    best.insert(place, {row[id], static_cast<std::int32_t>(id)});
    if (best.size() > k) best.pop_back();
    if (best.size() == k) least = best.back().log_probability;
  };
  const auto size = static_cast<std::int64_t>(row.size());
  std::int64_t id = rows::next_above(row.data(), least, 0, size);
  while (id + kBlock <= size) {
    for (std::int64_t i = id; i < id + kBlock; ++i) take(static_cast<std::size_t>(i));
    id = rows::next_above(row.data(), least, id + kBlock, size);
  }
  for (; id < size; ++id) take(static_cast<std::size_t>(id));
  return best;
}

// Where the table lies on a device only the k best of each row come to the CPU. Which of equal
// values at the edge of the list are chosen is then the device's business.
std::vector<std::vector<Word>> top_on_device(const Tensor& logs, std::int64_t k) {
  const auto [values, ids] = at::topk(logs, std::min(k, logs.size(1)), 1);
  const Tensor local_values = values.cpu().contiguous(), local_ids = ids.cpu().contiguous();
  const auto value = local_values.accessor<float, 2>();
  const auto id = local_ids.accessor<std::int64_t, 2>();
  std::vector<std::vector<Word>> best(static_cast<std::size_t>(logs.size(0)));
  for (std::int64_t row = 0; row < value.size(0); ++row) {
    auto& words = best[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < value.size(1); ++i) {
      if (!(value[row][i] > kImpossible)) continue;
      words.push_back({value[row][i], static_cast<std::int32_t>(id[row][i])});
    }
    std::ranges::sort(words, [](const Word& a, const Word& b) {
      return a.log_probability != b.log_probability ? a.log_probability > b.log_probability
                                                    : a.id < b.id;
    });
  }
  return best;
}

}  // namespace

std::vector<std::vector<Word>> top_words(const Tensor& logs, std::size_t k) {
  if (!logs.is_cpu()) return top_on_device(logs, static_cast<std::int64_t>(k));
  const Tensor table = logs.stride(1) == 1 ? logs : logs.contiguous();
  const auto width = static_cast<std::size_t>(table.size(1));
  const float* values = table.const_data_ptr<float>();
  std::vector<std::vector<Word>> best;
  for (std::int64_t row = 0; row < table.size(0); ++row, values += table.stride(0)) {
    best.push_back(top_of_row({values, width}, k));
  }
  return best;
}

}  // namespace tandem
