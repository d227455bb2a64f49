#include "train/mean_loss.h"

#include "base/error.h"
#include "data/batch.h"

namespace tandem {

std::vector<std::uint32_t> fixed_slice(PairLengths lengths, std::size_t most,
                                       std::int64_t max_length) {
  std::vector<std::uint32_t> pairs;
  const std::size_t count = std::min(most, lengths.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t pair = i * lengths.size() / count;
    if (std::max(lengths.src(pair), lengths.tgt(pair)) + 1 > max_length) continue;
    pairs.push_back(static_cast<std::uint32_t>(pair));
  }
  return pairs;
}

double mean_loss(const Transformer& model, const Corpus& corpus,
                 std::span<const std::uint32_t> pairs, std::int64_t max_tokens_at_once) {
  const at::NoGradGuard evaluation;
  check(!pairs.empty(), "a loss of no pairs");
  double sum = 0;
  std::int64_t tokens = 0;
  const auto sentences = measure_sentences(corpus.lengths(), pairs);
  for (const auto& part : split_by_tokens(sentences, max_tokens_at_once)) {
    const LossTerms loss = model.loss(pack(corpus, part), {});
    sum += loss.nll.item<double>();
    tokens += loss.tokens;
  }
  return sum / static_cast<double>(tokens);
}

}  // namespace tandem
