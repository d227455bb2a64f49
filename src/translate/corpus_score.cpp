#include "translate/corpus_score.h"

#include <algorithm>
#include <atomic>
#include <future>

#include "base/error.h"

namespace tandem {
namespace {

constexpr std::size_t kBlockLines = 256;  // some milliseconds of work: threads end together

struct Sums {
  BleuStats bleu;
  ChrfStats chrf;
};

}  // namespace

CorpusStats count_corpus(std::span<const std::string> hyps,
                         std::span<const std::vector<std::string>> refs,
                         const ScoreOptions& options) {
  for (const auto& ref : refs) check(ref.size() == hyps.size(), "a reference misses lines");
  CorpusStats result;
  if (options.keep_sentences && options.bleu) result.bleu_sentences.resize(hyps.size());
  if (options.keep_sentences && options.chrf) result.chrf_sentences.resize(hyps.size());
  std::atomic<std::size_t> next_line = 0;

  // Takes blocks of lines until none is left; `leads` for the one that reports progress.
  const auto work = [&](bool leads) {
    Sums sums;
    BleuCounter bleu(options.bleu.value_or(BleuOptions{}));
    ChrfCounter chrf(options.chrf.value_or(ChrfOptions{}));
    std::vector<std::string_view> line_refs(refs.size());
    for (;;) {
      const std::size_t begin = next_line.fetch_add(kBlockLines);
      if (begin >= hyps.size()) return sums;
      if (leads && options.on_progress) options.on_progress(begin);
      for (std::size_t i = begin; i < std::min(begin + kBlockLines, hyps.size()); ++i) {
        for (std::size_t r = 0; r < refs.size(); ++r) line_refs[r] = refs[r][i];
        if (options.bleu) {
          const BleuStats stats = bleu.count(hyps[i], line_refs);
          sums.bleu += stats;
          if (options.keep_sentences) result.bleu_sentences[i] = stats;
        }
        if (options.chrf) {
          const ChrfStats stats = chrf.count(hyps[i], line_refs);
          sums.chrf += stats;
          if (options.keep_sentences) result.chrf_sentences[i] = stats;
        }
      }
    }
  };

  const std::size_t blocks = (hyps.size() + kBlockLines - 1) / kBlockLines;
  std::vector<std::future<Sums>> helpers;
  for (std::size_t t = 1; t < std::min(options.threads, blocks); ++t) {
    helpers.push_back(std::async(std::launch::async, work, false));
  }
  const auto add = [&](const Sums& sums) {
    result.bleu += sums.bleu;
    result.chrf += sums.chrf;
  };
  add(work(true));
  for (auto& helper : helpers) add(helper.get());
  return result;
}

}  // namespace tandem
