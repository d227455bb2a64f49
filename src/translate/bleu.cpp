#include "translate/bleu.h"

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/format.h"
#include "translate/python_text.h"
#include "translate/sacrebleu_version.h"
#include "translate/unicode.h"

namespace tandem {
namespace {

// The reference length nearest to the hypothesis; of two equally near, the shorter.
std::int64_t nearest_length(std::int64_t hyp_len, std::span<const std::vector<Symbol>> refs) {
  std::int64_t best = -1;
  for (const auto& ref : refs) {
    const auto length = static_cast<std::int64_t>(ref.size());
    const auto nearer = std::abs(length - hyp_len) - std::abs(best - hyp_len);
    if (best < 0 || nearer < 0 || (nearer == 0 && length < best)) best = length;
  }
  return best;
}

// sacreBLEU's floor of log 0: small enough to make any product 0.
double floored_log(double x) {
  return x == 0.0 ? -9999999999.0 : std::log(x);
}

}  // namespace

BleuStats& BleuStats::operator+=(const BleuStats& other) {
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    correct[n] += other.correct[n];
    total[n] += other.total[n];
  }
  hyp_len += other.hyp_len;
  ref_len += other.ref_len;
  return *this;
}

void BleuCounter::read_words(std::string_view text, std::string& separated,
                             std::vector<Symbol>& words) {
  std::string lower;
  if (options_.lowercase) text = lower = to_lower(text);
  separated = separate_words(options_.tokenizer, strip_right(text));
  pieces_.clear();
  split_words(separated, pieces_);
  words.clear();
  for (const std::string_view piece : pieces_) words.push_back(names_.name(piece));
}

BleuStats BleuCounter::count(std::string_view hyp, std::span<const std::string_view> refs) {
  check(!refs.empty(), "BLEU needs a reference");
  names_.clear();
  separated_refs_.resize(refs.size());
  refs_.resize(refs.size());
  read_words(hyp, separated_hyp_, hyp_);
  for (std::size_t r = 0; r < refs.size(); ++r) read_words(refs[r], separated_refs_[r], refs_[r]);

  BleuStats stats;
  stats.hyp_len = static_cast<std::int64_t>(hyp_.size());
  stats.ref_len = nearest_length(stats.hyp_len, refs_);
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    stats.total[n] = std::max<std::int64_t>(0, stats.hyp_len - static_cast<std::int64_t>(n));
  }
  matcher_.match(hyp_, refs_, stats.correct);
  return stats;
}

// The order of operations is sacreBLEU's, so that the bits agree.
BleuScore bleu_score(const BleuStats& stats, bool effective_order) {
  BleuScore result;
  result.stats = stats;
  const auto hyp_len = static_cast<double>(stats.hyp_len);
  const auto ref_len = static_cast<double>(stats.ref_len);
  result.ratio = stats.ref_len > 0 ? hyp_len / ref_len : 0.0;
  result.brevity_penalty = 1.0;
  if (stats.hyp_len < stats.ref_len) {
    result.brevity_penalty = stats.hyp_len > 0 ? std::exp(1 - ref_len / hyp_len) : 0.0;
  }
  if (stats.correct == decltype(stats.correct){}) return result;

  double smoothing = 1.0;
  std::size_t orders = kBleuOrders;
  for (std::size_t n = 0; n < kBleuOrders && stats.total[n] > 0; ++n) {
    const auto total = static_cast<double>(stats.total[n]);
    if (effective_order) orders = n + 1;
    if (stats.correct[n] == 0) {
      smoothing *= 2;
      result.precisions[n] = 100.0 / (smoothing * total);
    } else {
      result.precisions[n] = 100.0 * static_cast<double>(stats.correct[n]) / total;
    }
  }
  double log_sum = 0;
  for (std::size_t n = 0; n < orders; ++n) log_sum += floored_log(result.precisions[n]);
  result.score = result.brevity_penalty * std::exp(log_sum / static_cast<double>(orders));
  return result;
}

std::string bleu_signature(const BleuOptions& options, std::size_t refs) {
  return format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:exp|version:{}", refs,
                options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                tokenizer_name(options.tokenizer), kSacrebleuVersion);
}

std::string bleu_text(const BleuScore& score, int decimals) {
  const auto& p = score.precisions;
  return format(
      "{:.{}f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
      score.score, decimals, p[0], p[1], p[2], p[3], score.brevity_penalty, score.ratio,
      score.stats.hyp_len, score.stats.ref_len);
}

}  // namespace tandem
