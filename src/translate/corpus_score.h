// corpus_score: BLEU and chrF of a whole text, counted by several threads. Counts are whole numbers
// and add up to the same sums in any order: the result does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "translate/bleu.h"
#include "translate/chrf.h"

namespace tandem {

struct ScoreOptions {
  std::optional<BleuOptions> bleu = BleuOptions{};  // absent: not wanted
  std::optional<ChrfOptions> chrf = ChrfOptions{};
  bool keep_sentences = false;
  std::size_t threads = 1;
  std::function<void(std::size_t lines)> on_progress;  // called by the calling thread only
};

struct CorpusStats {
  BleuStats bleu;
  ChrfStats chrf;
  // One a sentence if they were asked for, else empty.
  std::vector<BleuStats> bleu_sentences;
  std::vector<ChrfStats> chrf_sentences;
};

// refs[k][i] is the k-th reference of hyps[i]; at least one k, all as long as hyps.
CorpusStats count_corpus(std::span<const std::string> hyps,
                         std::span<const std::vector<std::string>> refs,
                         const ScoreOptions& options);

}  // namespace tandem
