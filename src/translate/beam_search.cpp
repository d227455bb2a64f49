#include "translate/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/transformer.h"
#include "translate/top_words.h"

namespace tandem {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Live {
  std::vector<std::int32_t> ids;
  double log_probability = 0;
  std::int32_t row = 0;  // in the cache
};

// What is one sentence's own: nothing here knows of the batch but the rows of live hypotheses.
class SentenceSearch {
 public:
  SentenceSearch(const SearchSettings& settings, std::int32_t eos, std::int64_t limit,
                 std::int32_t row)
      : settings_(settings), eos_(eos), limit_(limit) {
    live_.push_back({{}, 0, row});
  }

  const std::vector<Live>& live() const { return live_; }
  bool must_end() const { return length_ + 1 >= limit_; }

  // words[row]: the likeliest next words of a live hypothesis, best first; only eos at the limit.
  void step(std::span<const std::vector<Word>> words) {
    ++length_;
    std::vector<Candidate> candidates;
    for (const Live& parent : live_) {
      for (const Word& word : words[static_cast<std::size_t>(parent.row)]) {
        candidates.push_back(
            {&parent, word.id, parent.log_probability + static_cast<double>(word.log_probability)});
      }
    }
    // Stable: of equal ones the earlier hypothesis, then the smaller id, comes first.
    std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::log_probability);
    if (candidates.size() > width_of_step(settings_)) candidates.resize(width_of_step(settings_));

    std::vector<Live> next;
    for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
      const Candidate& candidate = candidates[rank];
      if (candidate.id == eos_) {
        if (rank < static_cast<std::size_t>(settings_.beam)) finish(candidate);
      } else if (next.size() < static_cast<std::size_t>(settings_.beam)) {
        next.push_back({candidate.parent->ids, candidate.log_probability, candidate.parent->row});
        next.back().ids.push_back(candidate.id);
      }
    }
    live_ = std::move(next);
    std::erase_if(live_, [&](const Live& hypothesis) { return is_hopeless(hypothesis); });
    if (settings_.beam == 1 && !finished_.empty()) live_.clear();
  }

  void set_rows(std::int32_t first) {
    for (Live& hypothesis : live_) hypothesis.row = first++;
  }

  std::vector<Hypothesis> result() && {
    if (finished_.empty()) finished_.push_back({{}, kNever, kNever});
    return std::move(finished_);
  }

  // Continuations that a step looks at. At most half of them can end.
  static std::size_t width_of_step(const SearchSettings& settings) {
    return static_cast<std::size_t>(settings.beam == 1 ? 1 : 2 * settings.beam);
  }

 private:
  struct Candidate {
    const Live* parent;
    std::int32_t id;
    double log_probability;
  };

  void finish(const Candidate& candidate) {
    const double score = candidate.log_probability / length_penalty(length_, settings_.alpha);
    const auto place =
        std::ranges::upper_bound(finished_, score, std::ranges::greater{}, &Hypothesis::score);
    finished_.insert(place, {candidate.parent->ids, candidate.log_probability, score});
    if (finished_.size() > n_best()) finished_.pop_back();
  }

  // Log probabilities only fall and the penalty only grows, so this is the most it can come to.
  bool is_hopeless(const Live& hypothesis) const {
    return finished_.size() == n_best() &&
           hypothesis.log_probability / length_penalty(limit_, settings_.alpha) <=
               finished_.back().score;
  }

  std::size_t n_best() const { return static_cast<std::size_t>(settings_.n_best); }

  SearchSettings settings_;
  std::int32_t eos_;
  std::int64_t limit_;  // tokens, eos included
  std::int64_t length_ = 0;
  std::vector<Live> live_;
  std::vector<Hypothesis> finished_;  // best first
};

// Sentences packed as the model takes them.
struct PackedSources {
  std::vector<std::int32_t> ids, offsets{0};
  PackedSources(std::span<const std::vector<std::int32_t>> sources, std::int32_t eos) {
    for (const auto& source : sources) {
      ids.insert(ids.end(), source.begin(), source.end());
      ids.push_back(eos);
      offsets.push_back(static_cast<std::int32_t>(ids.size()));
    }
  }
};

void forbid(const Tensor& logs, std::int32_t id) {
  if (id >= 0) logs.select(1, id).fill_(kNever);
}

std::vector<std::vector<Word>> next_words(const Tensor& logs, const SpecialIds& special,
                                          const std::vector<SentenceSearch>& searches,
                                          std::size_t width) {
  for (const std::int32_t id : {special.pad, special.bos, special.unk}) forbid(logs, id);
  auto words = top_words(logs, width);
  Tensor ends;  // read only if some sentence must end now
  for (const SentenceSearch& search : searches) {
    if (!search.must_end()) continue;
    for (const Live& hypothesis : search.live()) {
      if (!ends.defined()) ends = logs.select(1, special.eos).cpu();
      words[static_cast<std::size_t>(hypothesis.row)] = {
          {ends[hypothesis.row].item<float>(), special.eos}};
    }
  }
  return words;
}

}  // namespace

double length_penalty(std::int64_t tokens, double alpha) {
  return std::pow((5.0 + static_cast<double>(tokens)) / 6.0, alpha);
}

std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model,
                                                 const SpecialIds& special,
                                                 std::span<const std::vector<std::int32_t>> sources,
                                                 const SearchSettings& settings) {
  check(settings.beam >= 1 && settings.n_best >= 1 && settings.n_best <= settings.beam,
        "n_best must be between 1 and beam");
  check(special.bos >= 0 && special.eos >= 0, "translation needs marks for begin and end");
  if (sources.empty()) return {};
  const at::NoGradGuard no_gradient;
  const std::size_t width = std::min(SentenceSearch::width_of_step(settings),
                                     static_cast<std::size_t>(model.vocabulary()));
  const PackedSources packed(sources, special.eos);
  DecoderCache cache = model.begin(model.encode(packed.ids, packed.offsets));

  std::vector<SentenceSearch> searches;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::int64_t limit =
        static_cast<std::int64_t>(sources[i].size()) + 1 + settings.extra_steps;
    searches.emplace_back(settings, special.eos, std::min(limit, model.config().max_positions),
                          static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> last(sources.size(), special.bos), from;
  while (!last.empty()) {
    const auto words = next_words(model.step(cache, last), special, searches, width);
    last.clear();
    from.clear();
    for (SentenceSearch& search : searches) {
      if (search.live().empty()) continue;
      search.step(words);
      for (const Live& hypothesis : search.live()) {
        from.push_back(hypothesis.row);
        last.push_back(hypothesis.ids.back());
      }
      search.set_rows(static_cast<std::int32_t>(from.size() - search.live().size()));
    }
    if (!from.empty()) cache.select(from);
  }
  std::vector<std::vector<Hypothesis>> results;
  for (SentenceSearch& search : searches) results.push_back(std::move(search).result());
  return results;
}

}  // namespace tandem
