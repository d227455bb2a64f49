#include "translate/chrf.h"

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "translate/python_text.h"
#include "translate/sacrebleu_version.h"
#include "translate/unicode.h"

namespace tandem {

ChrfStats& ChrfStats::operator+=(const ChrfStats& other) {
  for (std::size_t n = 0; n < kChrfOrders; ++n) {
    hyp[n] += other.hyp[n];
    ref[n] += other.ref[n];
    match[n] += other.match[n];
  }
  return *this;
}

void ChrfCounter::read_characters(std::string_view line, std::vector<Symbol>& characters) const {
  std::string lower;
  if (options_.lowercase) line = lower = to_lower(line);
  characters.clear();
  for (std::size_t at = 0; at < line.size();) {
    const char32_t point = next_code_point(line, at);
    if (!is_space(point)) characters.push_back(point);
  }
}

ChrfStats ChrfCounter::count(std::string_view hyp, std::span<const std::string_view> refs) {
  check(!refs.empty(), "chrF needs a reference");
  read_characters(hyp, hyp_);
  ChrfStats best;
  double best_score = -1.0;
  for (const std::string_view ref : refs) {
    read_characters(ref, ref_);
    ChrfStats stats;
    for (std::size_t n = 0; n < kChrfOrders; ++n) {
      stats.ref[n] = static_cast<std::int64_t>(ref_.size() > n ? ref_.size() - n : 0);
      const bool counts = stats.ref[n] > 0 && hyp_.size() > n;
      stats.hyp[n] = static_cast<std::int64_t>(counts ? hyp_.size() - n : 0);
    }
    matcher_.match(hyp_, {&ref_, 1}, stats.match);
    const double score = chrf_score(stats);
    if (score > best_score) best_score = score, best = stats;
  }
  return best;
}

// The order of operations is sacreBLEU's, so that the bits agree.
double chrf_score(const ChrfStats& stats) {
  constexpr double kBetaSquared = 4;
  double precision = 0, recall = 0;
  int orders = 0;
  for (std::size_t n = 0; n < kChrfOrders; ++n) {
    if (stats.hyp[n] == 0 || stats.ref[n] == 0) continue;
    const auto match = static_cast<double>(stats.match[n]);
    precision += match / static_cast<double>(stats.hyp[n]);
    recall += match / static_cast<double>(stats.ref[n]);
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return 0.0;
  precision /= orders;
  recall /= orders;
  const double score = (1 + kBetaSquared) * precision * recall;
  return 100 * (score / (kBetaSquared * precision + recall));
}

std::string chrf_signature(const ChrfOptions& options, std::size_t refs) {
  return format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:0|space:no|version:{}", refs,
                options.lowercase ? "lc" : "mixed", kChrfOrders, kSacrebleuVersion);
}

}  // namespace tandem
