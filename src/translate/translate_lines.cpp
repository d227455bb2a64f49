#include "translate/translate_lines.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "data/vocab.h"
#include "model/decode/decoder.h"
#include "translate/batch_workers.h"
#include "translate/line_parts.h"

namespace tandem {
namespace {

using Ids = std::vector<std::int32_t>;

// A sentence for the model: a line, or a part of a long one.
struct Part {
  std::size_t line = 0;
  Ids ids;
};

bool begins_word(std::string_view piece) {
  return piece.starts_with("\u2581");
}

bool ends_sentence(std::string_view piece) {
  for (const std::string_view end : {".", "!", "?", "…", "。", "！", "？"}) {
    if (piece.ends_with(end)) return true;
  }
  return false;
}

std::vector<Part> parts_of_line(std::size_t line, Ids ids, const Vocab& vocab, std::size_t most) {
  if (ids.empty()) return {};
  const auto before = [&](std::size_t at) {
    if (!begins_word(vocab.piece(ids[at]))) return CutPlace::none;
    return ends_sentence(vocab.piece(ids[at - 1])) ? CutPlace::sentence : CutPlace::word;
  };
  std::vector<Part> parts;
  auto begin = ids.begin();
  for (const std::size_t length : cut_line(ids.size(), most, before)) {
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    parts.push_back({line, Ids(begin, end)});
    begin = end;
  }
  return parts;
}

// Numbers of parts, the longest parts first, so that the last batches are quick ones and the
// threads end together; each batch within the budget unless it is a single part.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Part>& parts,
                                                 std::int64_t batch_tokens) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return parts[i].ids.size(); });
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t tokens = 0;
  for (const std::size_t part : order) {
    const auto length = static_cast<std::int64_t>(parts[part].ids.size()) + 1;
    if (batches.empty() || tokens + length > batch_tokens) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(part);
    tokens += length;
  }
  return batches;
}

// The i-th best of a line are the i-th best of its parts, one behind the other.
std::vector<Hypothesis> join_parts(std::span<const std::vector<Hypothesis>> parts, double alpha) {
  if (parts.empty()) return {Hypothesis{}};
  if (parts.size() == 1) return parts.front();
  std::size_t count = parts.front().size();
  for (const auto& part : parts) count = std::min(count, part.size());
  std::vector<Hypothesis> joined(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& part : parts) {
      joined[i].ids.insert(joined[i].ids.end(), part[i].ids.begin(), part[i].ids.end());
      joined[i].log_probability += part[i].log_probability;
    }
    const auto tokens = static_cast<std::int64_t>(joined[i].ids.size() + parts.size());
    joined[i].score = joined[i].log_probability / length_penalty(tokens, alpha);
  }
  return joined;
}

TextHypothesis to_text(const Hypothesis& hypothesis, const Vocab& vocab) {
  TextHypothesis result{
      vocab.decode(hypothesis.ids), {}, hypothesis.log_probability, hypothesis.score};
  std::ranges::replace(result.text, '\n', ' ');
  std::ranges::replace(result.text, '\r', ' ');
  for (const std::int32_t id : hypothesis.ids) result.tokens.push_back(vocab.piece(id));
  return result;
}

std::vector<TextHypothesis> line_texts(std::span<const std::vector<Hypothesis>> parts, double alpha,
                                       const Vocab& vocab) {
  std::vector<TextHypothesis> texts;
  for (const Hypothesis& hypothesis : join_parts(parts, alpha)) {
    texts.push_back(to_text(hypothesis, vocab));
  }
  return texts;
}

// Subwords of a part.
std::size_t most_ids(const Decoder& decoder, const TranslateSettings& settings) {
  const std::int64_t longest = std::min(settings.max_length, decoder.config().max_positions);
  check(longest >= 2, "a sentence needs room for a word and its end mark");
  return static_cast<std::size_t>(longest - 1);
}

// The work of translate_arriving(). Nothing is kept of lines that are done: it may go on for days.
class ArrivingLines {
 public:
  ArrivingLines(const Decoder& decoder, const Vocab& vocab, const TranslateSettings& settings,
                const OnLine& on_line)
      : vocab_(vocab),
        settings_(settings),
        most_ids_(most_ids(decoder, settings)),
        on_line_(on_line),
        search_(decoder, vocab.special_ids(), settings.search) {}

  void add(std::span<const std::string> lines) {
    for (const std::string& text : lines) {
      Ids ids;
      vocab_.encode(text, ids);
      const std::size_t number = lines_added_++;
      Line& line = lines_[number];
      line.translation.source_tokens = ids.size();
      for (Part& part : parts_of_line(number, std::move(ids), vocab_, most_ids_)) {
        waiting_.push_back({std::move(part), line.found.size()});
        line.found.emplace_back();
      }
      line.missing = line.found.size();
      line.translation.parts = std::max<std::size_t>(1, line.missing);
      if (line.missing == 0) tell(number);
    }
    begin_parts();
  }
  std::size_t live() const { return lines_.size(); }
  bool takes_more() const { return waiting_.empty() && search_.takes_more(); }
  void step() {
    search_.step([&](std::size_t sentence, const std::vector<Hypothesis>& found) {
      const auto node = running_.extract(sentence);
      const Place& place = node.mapped();
      tokens_ -= place.part.ids.size() + 1;
      Line& line = lines_.at(place.part.line);
      line.found[place.index] = found;
      if (--line.missing == 0) tell(place.part.line);
    });
    if (search_.takes_more()) begin_parts();
  }

 private:
  struct Line {
    LineTranslation translation;
    std::vector<std::vector<Hypothesis>> found;  // of its parts
    std::size_t missing = 0;
  };
  struct Place {
    Part part;
    std::size_t index;  // in its line
  };

  // As many as fit into a batch, at least one.
  void begin_parts() {
    std::vector<Ids> sources;
    const auto budget = static_cast<std::size_t>(settings_.batch_tokens);
    while (!waiting_.empty() &&
           (tokens_ == 0 || tokens_ + waiting_.front().part.ids.size() + 1 <= budget)) {
      sources.push_back(waiting_.front().part.ids);
      tokens_ += sources.back().size() + 1;
      running_.emplace(parts_begun_++, std::move(waiting_.front()));
      waiting_.pop_front();
    }
    search_.add(sources);
  }
  void tell(std::size_t number) {
    auto node = lines_.extract(number);
    Line& line = node.mapped();
    line.translation.hypotheses = line_texts(line.found, settings_.search.alpha, vocab_);
    on_line_(number, std::move(line.translation));
  }

  const Vocab& vocab_;
  const TranslateSettings& settings_;
  const std::size_t most_ids_;
  const OnLine& on_line_;
  BeamSearch search_;
  std::size_t lines_added_ = 0, parts_begun_ = 0;
  std::size_t tokens_ = 0;  // of parts under way
  std::unordered_map<std::size_t, Line> lines_;
  std::unordered_map<std::size_t, Place> running_;  // by number in the search
  std::deque<Place> waiting_;
};

}  // namespace

void translate_arriving(const Decoder& decoder, const Vocab& vocab, std::vector<std::string> lines,
                        const TranslateSettings& settings, const MoreLines& more,
                        const OnLine& on_line) {
  const auto work = [&](std::size_t) {
    ArrivingLines arriving(decoder, vocab, settings, on_line);
    arriving.add(lines);
    while (arriving.live() > 0) {
      arriving.step();
      if (arriving.takes_more()) arriving.add(more(arriving.live()));
    }
  };
  for_each_batch(1, 1, at::kCPU, work, [](std::size_t) {});
}

std::vector<LineTranslation> translate_lines(const Decoder& decoder, const Vocab& vocab,
                                             std::span<const std::string> lines,
                                             const TranslateSettings& settings) {
  const std::size_t most = most_ids(decoder, settings);
  std::vector<LineTranslation> translations(lines.size());
  std::vector<Part> parts;
  std::vector<std::size_t> first_part;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Ids ids;
    vocab.encode(lines[i], ids);
    translations[i].source_tokens = ids.size();
    first_part.push_back(parts.size());
    std::ranges::move(parts_of_line(i, std::move(ids), vocab, most), std::back_inserter(parts));
    translations[i].parts = std::max<std::size_t>(1, parts.size() - first_part.back());
  }
  first_part.push_back(parts.size());

  const auto batches = batches_of(parts, settings.batch_tokens);
  std::vector<std::vector<Hypothesis>> found(parts.size());
  // Parts of a line may be in batches of different threads: who finds the last one makes the line.
  std::vector<std::atomic<std::size_t>> missing(lines.size());
  const auto make_line = [&](std::size_t line) {
    const std::span own{found.data() + first_part[line], first_part[line + 1] - first_part[line]};
    translations[line].hypotheses = line_texts(own, settings.search.alpha, vocab);
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    missing[i] = first_part[i + 1] - first_part[i];
    if (missing[i] == 0) make_line(i);
  }
  std::size_t parts_done = 0;
  for_each_batch(
      batches.size(), decoder.on_cpu() ? settings.threads : 1, at::kCPU,
      [&](std::size_t batch) {
        std::vector<Ids> sources;
        for (const std::size_t part : batches[batch]) sources.push_back(parts[part].ids);
        beam_search(decoder, vocab.special_ids(), sources, settings.search,
                    [&](std::size_t i, const std::vector<Hypothesis>& hypotheses) {
                      const std::size_t part = batches[batch][i];
                      found[part] = hypotheses;
                      if (--missing[parts[part].line] == 0) make_line(parts[part].line);
                    });
      },
      [&](std::size_t batch) {
        parts_done += batches[batch].size();
        // Parts stand for lines: nearly all lines are one.
        if (settings.on_progress) settings.on_progress(lines.size() * parts_done / parts.size());
      });

  return translations;
}

std::vector<std::string> best_texts(std::span<const LineTranslation> translations) {
  std::vector<std::string> texts;
  for (const LineTranslation& translation : translations) {
    texts.push_back(translation.hypotheses.front().text);
  }
  return texts;
}

}  // namespace tandem
