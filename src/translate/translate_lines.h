// translate_lines: text in, text out, line for line. Batches are made of lines of similar length;
// the result depends neither on how lines are batched (but for rounding) nor on the number of
// threads.
//
// A line without words gives an empty translation. A line longer than the model was trained on is
// cut at ends of sentences, else between words, its parts are translated and put together: a
// Transformer fails on lengths that it has not seen, and a truncated line would lose text. Bytes
// that are not UTF-8 are read as U+FFFD, as SentencePiece does. Line ends that a model may write
// become spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "translate/beam_search.h"

namespace tandem {

class Decoder;
class Vocab;

struct TranslateSettings {
  SearchSettings search;
  std::int64_t batch_tokens = 1024;  // source tokens that are translated at a time, a thread
  std::int64_t max_length = 256;     // tokens of a source, end mark included, before it is cut
  std::size_t threads = 1;
  std::function<void(std::size_t lines)>
      on_progress;  // lines done so far; any thread, one at a time
};

struct TextHypothesis {
  std::string text;
  std::vector<std::string> tokens;  // subwords
  double log_probability = 0, score = 0;
};

struct LineTranslation {
  std::vector<TextHypothesis> hypotheses;  // best first, at least one
  std::size_t source_tokens = 0;           // without the end mark
  std::size_t parts = 1;                   // more than one if the line was too long
};

std::vector<LineTranslation> translate_lines(const Decoder& decoder, const Vocab& vocab,
                                             std::span<const std::string> lines,
                                             const TranslateSettings& settings);

// A line's translation, while others are being translated.
using OnLine = std::function<void(std::size_t line, LineTranslation translation)>;
// Lines that have arrived, asked for after every word. live: lines under way, for the caller to
// judge how many more are welcome.
using MoreLines = std::function<std::vector<std::string>(std::size_t live)>;

// Lines that arrive while others are translated join them, and leave when they are done; it returns
// when all are. They are numbered in the order in which they came. One thread; settings.threads and
// on_progress are not looked at.
void translate_arriving(const Decoder& decoder, const Vocab& vocab, std::vector<std::string> lines,
                        const TranslateSettings& settings, const MoreLines& more,
                        const OnLine& on_line);

// The best translations alone.
std::vector<std::string> best_texts(std::span<const LineTranslation> translations);

}  // namespace tandem
