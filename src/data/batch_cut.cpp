#include "data/batch_cut.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/error.h"

namespace tandem {
namespace {

struct Tokens {
  std::int64_t src = 0, tgt = 0;
};

Tokens count_tokens(std::span<const Sentence> sentences) {
  Tokens sum;
  for (const Sentence& sentence : sentences) {
    sum.src += sentence.src_tokens;
    sum.tgt += sentence.tgt_tokens;
  }
  return sum;
}

}  // namespace

std::vector<Sentence> describe(PairLengths lengths, std::span<const std::uint32_t> batch,
                               const CostModel& cost) {
  std::vector<Sentence> sentences;
  sentences.reserve(batch.size());
  for (const std::uint32_t pair : batch) {
    const std::uint32_t src = lengths.src(pair) + 1, tgt = lengths.tgt(pair) + 1;
    sentences.push_back({pair, static_cast<std::int32_t>(sentences.size()),
                         static_cast<std::int32_t>(src), static_cast<std::int32_t>(tgt),
                         cost(src, tgt)});
  }
  return sentences;
}

std::vector<std::vector<Sentence>> split_by_cost(std::span<const Sentence> sentences,
                                                 std::size_t parts) {
  check(parts > 0, "a batch cannot be cut into no parts");
  std::vector<Sentence> heaviest_first(sentences.begin(), sentences.end());
  std::sort(heaviest_first.begin(), heaviest_first.end(), [](const Sentence& a, const Sentence& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.place < b.place;
  });

  using Load = std::pair<std::uint64_t, std::size_t>;  // cost so far, part: ties go to the first
  std::vector<Load> empty;
  for (std::size_t part = 0; part < parts; ++part) empty.emplace_back(0, part);
  std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest(std::greater<>(),
                                                                        std::move(empty));
  std::vector<std::vector<Sentence>> result(parts);
  for (const Sentence& sentence : heaviest_first) {
    const auto [load, part] = lightest.top();
    lightest.pop();
    result[part].push_back(sentence);
    lightest.emplace(load + sentence.cost, part);
  }
  for (auto& part : result) {
    std::sort(part.begin(), part.end(),
              [](const Sentence& a, const Sentence& b) { return a.place < b.place; });
  }
  return result;
}

std::vector<std::vector<Sentence>> split_by_tokens(std::span<const Sentence> sentences,
                                                   std::int64_t max_tokens) {
  check(max_tokens > 0, "a micro-batch needs room for at least one token");
  if (sentences.empty()) return {};
  const auto fits = [max_tokens](const std::vector<Sentence>& part) {
    const Tokens sum = count_tokens(part);
    return part.size() == 1 || std::max(sum.src, sum.tgt) <= max_tokens;
  };
  const Tokens total = count_tokens(sentences);
  const auto least =
      static_cast<std::size_t>((std::max(total.src, total.tgt) - 1) / max_tokens + 1);
  // Parts of equal cost differ in tokens, so the least number may be one or two too few. The growth
  // is geometric for the rare batch where it is far too few (every sentence over half of
  // max_tokens).
  for (std::size_t parts = std::min(least, sentences.size());; parts += 1 + parts / 16) {
    auto result = split_by_cost(sentences, std::min(parts, sentences.size()));
    if (parts >= sentences.size() || std::all_of(result.begin(), result.end(), fits)) return result;
  }
}

}  // namespace tandem
