#include "translate/evaluate.h"

#include <algorithm>

#include "base/error.h"
#include "data/batch.h"
#include "data/vocab.h"
#include "model/transformer.h"
#include "translate/batch_workers.h"

namespace tandem {

std::vector<std::uint32_t> spread_pairs(PairLengths lengths, std::int64_t max_length,
                                        std::size_t most) {
  std::vector<std::uint32_t> fitting;
  for (std::size_t pair = 0; pair < lengths.size(); ++pair) {
    if (std::max(lengths.src(pair), lengths.tgt(pair)) + 1 <= max_length) {
      fitting.push_back(static_cast<std::uint32_t>(pair));
    }
  }
  std::vector<std::uint32_t> chosen;
  for (const std::size_t place : sample_lines(fitting.size(), most)) {
    chosen.push_back(fitting[place]);
  }
  return chosen;
}

std::vector<LossSum> loss_of_batches(const Transformer& model, const Mixture& corpus,
                                     std::span<const std::uint32_t> pairs,
                                     std::int64_t batch_tokens, std::size_t threads, RankSlot slot,
                                     const std::function<void()>& after_batch) {
  const auto batches = split_by_tokens(measure_sentences(corpus.lengths(), pairs), batch_tokens);
  std::vector<LossSum> sums(batches.size());
  const std::size_t own = (batches.size() + slot.world - 1 - slot.rank) / slot.world;
  for_each_batch(
      own, threads, model.params().device(),
      [&](std::size_t turn) {
        const std::size_t i = slot.rank + turn * slot.world;
        const LossTerms loss = model.loss(pack(corpus, batches[i]), {});
        sums[i] = {loss.nll.item<double>(), loss.tokens};
      },
      [&](std::size_t) { after_batch(); });
  return sums;
}

LossSum sum_of(std::span<const LossSum> batches) {
  LossSum total;
  for (const LossSum& batch : batches) {
    total.nll += batch.nll;
    total.tokens += batch.tokens;
  }
  return total;
}

EvalScores score_translations(std::vector<std::string> hypotheses,
                              const std::vector<std::string>& references, std::size_t threads,
                              bool lowercase) {
  check(hypotheses.size() == references.size(), "one reference a hypothesis");
  EvalScores scores;
  scores.hypotheses = std::move(hypotheses);

  ScoreOptions wanted;
  wanted.bleu = BleuOptions{BleuTokenizer::v13a, lowercase, false};
  wanted.chrf = ChrfOptions{lowercase};
  wanted.threads = threads;
  const CorpusStats stats = count_corpus(scores.hypotheses, {&references, 1}, wanted);
  scores.bleu = bleu_score(stats.bleu, false);
  scores.chrf = chrf_score(stats.chrf);
  scores.bleu_signature = bleu_signature(*wanted.bleu, 1);
  scores.chrf_signature = chrf_signature(*wanted.chrf, 1);
  return scores;
}

EvalScores evaluate_translations(const Decoder& decoder, const Vocab& vocab,
                                 std::span<const std::string> sources,
                                 const std::vector<std::string>& references,
                                 const TranslateSettings& settings, bool lowercase) {
  check(sources.size() == references.size(), "one reference a source");
  return score_translations(best_texts(translate_lines(decoder, vocab, sources, settings)),
                            references, settings.threads, lowercase);
}

std::vector<std::size_t> sample_lines(std::size_t lines, std::size_t samples) {
  const std::size_t count = std::min(lines, samples);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(lines * i / count);
  return chosen;
}

}  // namespace tandem
