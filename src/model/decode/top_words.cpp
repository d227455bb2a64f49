#include "model/decode/top_words.h"

#include "model/decode/top_list.h"

namespace tandem {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

// Where the table lies on a device only the best of each row come to the CPU. Which of equal
// values at the edge of the list are chosen is then the device's business.
void top_on_device(const Tensor& logs, WordTable& words) {
  const auto most = static_cast<std::int64_t>(words.most);
  const auto [values, ids] = at::topk(logs, std::min(most, logs.size(1)), 1);
  const Tensor local_values = values.cpu().contiguous(), local_ids = ids.cpu().contiguous();
  const auto value = local_values.accessor<float, 2>();
  const auto id = local_ids.accessor<std::int64_t, 2>();
  for (std::int64_t row = 0; row < value.size(0); ++row) {
    const auto at = static_cast<std::size_t>(row);
    Word* best = words.words.data() + at * words.most;
    for (std::int64_t i = 0; i < value.size(1); ++i) {
      if (!(value[row][i] > kImpossible)) continue;
      best[words.counts[at]++] = {value[row][i], static_cast<std::int32_t>(id[row][i])};
    }
    std::sort(best, best + words.counts[at], [](const Word& a, const Word& b) {
      return a.log_probability != b.log_probability ? a.log_probability > b.log_probability
                                                    : a.id < b.id;
    });
  }
}

}  // namespace

void top_words(const Tensor& logs, const WordChoice& choice, WordTable& words) {
  words.resize(static_cast<std::size_t>(logs.size(0)), choice);
  const Tensor ends = logs.select(1, choice.end).cpu().contiguous();
  std::copy_n(ends.const_data_ptr<float>(), words.ends.size(), words.ends.data());
  for (const std::int32_t id : choice.never) logs.select(1, id).fill_(kImpossible);
  if (!logs.is_cpu()) return top_on_device(logs, words);
  const Tensor table = logs.stride(1) == 1 ? logs : logs.contiguous();
  const float* values = table.const_data_ptr<float>();
  for (std::size_t row = 0; row < words.counts.size(); ++row, values += table.stride(0)) {
    TopList list{words.words.data() + row * words.most, words.most};
    list.add(values, table.size(1), 0);
    words.counts[row] = list.count;
  }
}

}  // namespace tandem
