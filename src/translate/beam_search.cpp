#include "translate/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/decode/decoder.h"

namespace tandem {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Words of all hypotheses of a sentence as a tree: going on from one is adding a node.
struct WordNode {
  std::int32_t id, parent;  // parent -1: the first word
};

struct Live {
  std::int32_t node = -1;  // its newest word; -1: none yet
  double log_probability = 0;
  std::int32_t row = 0;  // in the decoding
};

// What is one sentence's own: nothing here knows of the batch but the rows of live hypotheses.
class SentenceSearch {
 public:
  SentenceSearch(const SearchSettings& settings, std::int32_t eos, std::int64_t limit,
                 std::int32_t row)
      : settings_(settings), eos_(eos), limit_(limit) {
    live_.push_back({-1, 0, row});
  }

  const std::vector<Live>& live() const { return live_; }
  std::int32_t newest_word(const Live& hypothesis) const { return node(hypothesis).id; }

  void step(const WordTable& words) {
    ++length_;
    list_candidates(words);
    // Of equal ones the earlier hypothesis, then the smaller id, comes first.
    const std::size_t width = std::min(width_of_step(settings_), candidates_.size());
    std::ranges::partial_sort(candidates_, candidates_.begin() + static_cast<std::ptrdiff_t>(width),
                              [](const Candidate& a, const Candidate& b) {
                                return a.log_probability != b.log_probability
                                           ? a.log_probability > b.log_probability
                                           : a.order < b.order;
                              });
    next_.clear();
    for (std::size_t rank = 0; rank < width; ++rank) {
      const Candidate& candidate = candidates_[rank];
      if (candidate.id == eos_) {
        if (rank < static_cast<std::size_t>(settings_.beam)) finish(candidate);
      } else if (next_.size() < static_cast<std::size_t>(settings_.beam)) {
        next_.push_back({static_cast<std::int32_t>(nodes_.size()), candidate.log_probability,
                         candidate.parent.row});
        nodes_.push_back({candidate.id, candidate.parent.node});
      }
    }
    live_.swap(next_);
    std::erase_if(live_, [&](const Live& hypothesis) { return is_hopeless(hypothesis); });
    if (settings_.beam == 1 && !finished_.empty()) live_.clear();
  }

  void set_rows(std::int32_t first) {
    for (Live& hypothesis : live_) hypothesis.row = first++;
  }

  const std::vector<Hypothesis>& result() {
    if (finished_.empty()) finished_.push_back({{}, kNever, kNever});
    return finished_;
  }

  // Continuations that a step looks at. At most half of them can end.
  static std::size_t width_of_step(const SearchSettings& settings) {
    return static_cast<std::size_t>(settings.beam == 1 ? 1 : 2 * settings.beam);
  }

 private:
  struct Candidate {
    Live parent;
    std::int32_t id;
    double log_probability;
    std::size_t order;
  };

  const WordNode& node(const Live& hypothesis) const {
    return nodes_[static_cast<std::size_t>(hypothesis.node)];
  }

  // At the limit only the end mark may follow.
  void list_candidates(const WordTable& words) {
    candidates_.clear();
    const auto add = [&](const Live& parent, const Word& word) {
      candidates_.push_back({parent, word.id,
                             parent.log_probability + static_cast<double>(word.log_probability),
                             candidates_.size()});
    };
    for (const Live& parent : live_) {
      const auto row = static_cast<std::size_t>(parent.row);
      if (length_ >= limit_) {
        add(parent, {words.ends[row], eos_});
      } else {
        for (const Word& word : words.of(row)) add(parent, word);
      }
    }
  }

  std::vector<std::int32_t> words_of(const Live& hypothesis) const {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(length_ - 1));
    std::int32_t at = hypothesis.node;
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      *id = nodes_[static_cast<std::size_t>(at)].id;
      at = nodes_[static_cast<std::size_t>(at)].parent;
    }
    return ids;
  }

  void finish(const Candidate& candidate) {
    const double score = candidate.log_probability / length_penalty(length_, settings_.alpha);
    const auto place =
        std::ranges::upper_bound(finished_, score, std::ranges::greater{}, &Hypothesis::score);
    finished_.insert(place, {words_of(candidate.parent), candidate.log_probability, score});
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
  std::vector<WordNode> nodes_;
  std::vector<Live> live_, next_;
  std::vector<Candidate> candidates_;
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

WordChoice choice_of(const SearchSettings& settings, const SpecialIds& special) {
  WordChoice choice{SentenceSearch::width_of_step(settings), {}, special.eos};
  for (const std::int32_t id : {special.pad, special.bos, special.unk}) {
    if (id >= 0) choice.never.push_back(id);
  }
  return choice;
}

}  // namespace

double length_penalty(std::int64_t tokens, double alpha) {
  return std::pow((5.0 + static_cast<double>(tokens)) / 6.0, alpha);
}

struct BeamSearch::State {
  struct Member {
    std::size_t number;
    SentenceSearch search;
  };

  const Decoder& decoder;
  const SpecialIds special;
  const SearchSettings settings;
  std::unique_ptr<Decoding> decoding;  // none when no sentence is under way
  std::vector<Member> members;         // their rows follow each other
  std::size_t added = 0;
  std::vector<std::int32_t> last, from;  // by row: newest word; row before
  WordTable words;
};

BeamSearch::BeamSearch(const Decoder& decoder, const SpecialIds& special,
                       const SearchSettings& settings)
    : state_(std::make_unique<State>(State{decoder, special, settings, {}, {}, 0, {}, {}, {}})) {
  check(settings.beam >= 1 && settings.n_best >= 1 && settings.n_best <= settings.beam,
        "n_best must be between 1 and beam");
  check(special.bos >= 0 && special.eos >= 0, "translation needs marks for begin and end");
}

BeamSearch::~BeamSearch() = default;

std::size_t BeamSearch::live() const {
  return state_->members.size();
}

bool BeamSearch::takes_more() const {
  return live() == 0 || state_->decoder.takes_more();
}

void BeamSearch::add(std::span<const std::vector<std::int32_t>> sources) {
  if (sources.empty()) return;
  State& s = *state_;
  const PackedSources packed(sources, s.special.eos);
  if (s.decoding) {
    s.decoder.join(*s.decoding, packed.ids, packed.offsets);
  } else {
    s.decoding = s.decoder.begin(packed.ids, packed.offsets, choice_of(s.settings, s.special));
  }
  for (const auto& source : sources) {
    const std::int64_t limit =
        static_cast<std::int64_t>(source.size()) + 1 + s.settings.extra_steps;
    s.members.push_back(
        {s.added++, SentenceSearch(s.settings, s.special.eos,
                                   std::min(limit, s.decoder.config().max_positions),
                                   static_cast<std::int32_t>(s.last.size()))});
    s.last.push_back(s.special.bos);
  }
}

void BeamSearch::step(const OnSearchEnd& on_end) {
  State& s = *state_;
  s.decoding->step(s.last, s.words);
  s.last.clear();
  s.from.clear();
  for (auto& [number, search] : s.members) {
    search.step(s.words);
    if (search.live().empty()) on_end(number, search.result());
    const auto first = static_cast<std::int32_t>(s.from.size());
    for (const Live& hypothesis : search.live()) {
      s.from.push_back(hypothesis.row);
      s.last.push_back(search.newest_word(hypothesis));
    }
    search.set_rows(first);
  }
  std::erase_if(s.members,
                [](const State::Member& member) { return member.search.live().empty(); });
  if (s.from.empty()) {
    s.decoding.reset();
  } else {
    s.decoding->select(s.from);
  }
}

std::vector<std::vector<Hypothesis>> beam_search(const Decoder& decoder, const SpecialIds& special,
                                                 std::span<const std::vector<std::int32_t>> sources,
                                                 const SearchSettings& settings,
                                                 const OnSearchEnd& on_end) {
  BeamSearch search(decoder, special, settings);
  search.add(sources);
  std::vector<std::vector<Hypothesis>> results(sources.size());
  while (search.live() > 0) {
    search.step([&](std::size_t sentence, const std::vector<Hypothesis>& hypotheses) {
      if (on_end) on_end(sentence, hypotheses);
      results[sentence] = hypotheses;
    });
  }
  return results;
}

}  // namespace tandem
