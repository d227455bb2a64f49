#include "translate/translate_lines.h"

#include <algorithm>
#include <atomic>
#include <numeric>

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

}  // namespace

std::vector<LineTranslation> translate_lines(const Decoder& decoder, const Vocab& vocab,
                                             std::span<const std::string> lines,
                                             const TranslateSettings& settings,
                                             const OnLine& on_line) {
  const std::int64_t longest = std::min(settings.max_length, decoder.config().max_positions);
  check(longest >= 2, "a sentence needs room for a word and its end mark");
  std::vector<LineTranslation> translations(lines.size());
  std::vector<Part> parts;
  std::vector<std::size_t> first_part;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Ids ids;
    vocab.encode(lines[i], ids);
    translations[i].source_tokens = ids.size();
    first_part.push_back(parts.size());
    std::ranges::move(
        parts_of_line(i, std::move(ids), vocab, static_cast<std::size_t>(longest - 1)),
        std::back_inserter(parts));
    translations[i].parts = std::max<std::size_t>(1, parts.size() - first_part.back());
  }
  first_part.push_back(parts.size());

  const auto batches = batches_of(parts, settings.batch_tokens);
  std::vector<std::vector<Hypothesis>> found(parts.size());
  // Parts of a line may be in batches of different threads: who finds the last one makes the line.
  std::vector<std::atomic<std::size_t>> missing(lines.size());
  const auto make_line = [&](std::size_t line) {
    const std::span own{found.data() + first_part[line], first_part[line + 1] - first_part[line]};
    for (const Hypothesis& hypothesis : join_parts(own, settings.search.alpha)) {
      translations[line].hypotheses.push_back(to_text(hypothesis, vocab));
    }
    if (on_line) on_line(line, translations[line]);
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
