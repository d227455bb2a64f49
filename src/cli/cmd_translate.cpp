// tandem translate: standard input to standard output, a line for a line; on a terminal a prompt.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/format.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text_file.h"
#include "base/utf8.h"
#include "cli/translate_options.h"
#include "cli/verbs.h"

namespace tandem {
namespace {

struct Options {
  TranslateOptions common;
  std::int64_t nbest = 1, chunk = 2000;
  bool scores = false, json = false;
};

constexpr std::size_t kMaxLineBytes = 1 << 20;
constexpr std::size_t kMaxChunkBytes = 4 << 20;

// Names the first lines with which something is wrong, counts the others.
class LineWarnings {
 public:
  void add(std::uint64_t line, std::string_view what) {
    if (++count_ > kNamed) return;
    print(format("line {} {}", line, what));
  }
  void finish() const {
    if (count_ > kNamed) print(format("{} more such lines were not named", count_ - kNamed));
  }

 private:
  static constexpr std::uint64_t kNamed = 10;
  static void print(const std::string& text) {
    std::fputs(format("tandem: warning: {}\n", text).c_str(), stderr);
  }
  std::uint64_t count_ = 0;
};

// Some lines of standard input, as many as are translated together.
struct Chunk {
  std::uint64_t first_line = 0;
  std::vector<std::string> lines;
};

bool read_chunk(LineReader& reader, std::size_t most_lines, LineWarnings& warnings, Chunk& chunk) {
  chunk.lines.clear();
  chunk.first_line = reader.line_number() + 1;
  std::size_t bytes = 0;
  std::string_view line;
  while (chunk.lines.size() < most_lines && bytes < kMaxChunkBytes && reader.next(line)) {
    if (reader.was_cut()) {
      warnings.add(reader.line_number(),
                   format("is longer than {} MB; the rest of it is left out", kMaxLineBytes >> 20));
    }
    if (!is_valid_utf8(line)) {
      warnings.add(reader.line_number(), "is not valid UTF-8; such bytes are read as U+FFFD");
    }
    chunk.lines.emplace_back(line);
    bytes += line.size();
  }
  return !chunk.lines.empty();
}

Json json_of(const LineTranslation& translation) {
  Json hypotheses = Json::array();
  for (const TextHypothesis& hypothesis : translation.hypotheses) {
    Json tokens = Json::array();
    for (const std::string& token : hypothesis.tokens) tokens.push(token);
    hypotheses.push(Json::object()
                        .set("text", hypothesis.text)
                        .set("score", hypothesis.score)
                        .set("tokens", std::move(tokens)));
  }
  return Json::object()
      .set("text", translation.hypotheses.front().text)
      .set("hypotheses", std::move(hypotheses));
}

// line: from 0, as Moses counts them in n-best lists.
std::string text_of(const LineTranslation& translation, std::uint64_t line,
                    const Options& options) {
  if (options.json) return json_of(translation).dump() + "\n";
  std::string text;
  for (const TextHypothesis& hypothesis : translation.hypotheses) {
    if (options.nbest > 1) {
      text += format("{} ||| {} ||| {:.6f}\n", line, hypothesis.text, hypothesis.score);
    } else if (options.scores) {
      text += format("{:.6f}\t{}\n", hypothesis.score, hypothesis.text);
    } else {
      text += hypothesis.text + "\n";
    }
  }
  return text;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw EnvError("cannot write to standard output: it is closed or its disk is full");
  }
}

std::string translated(const TranslationModel& model, const TranslateSettings& settings,
                       const Chunk& chunk, const Options& options, LineWarnings& warnings) {
  const auto translations = translate_lines(*model.decoder, *model.vocab, chunk.lines, settings);
  std::string out;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    if (translations[i].parts > 1) {
      warnings.add(
          chunk.first_line + i,
          format("has {} subwords, more than the {} that the model takes; it was "
                 "translated in {} parts",
                 translations[i].source_tokens, settings.max_length - 1, translations[i].parts));
    }
    out += text_of(translations[i], chunk.first_line - 1 + i, options);
  }
  return out;
}

ExitCode translate(const Options& options) {
  const TranslationModel model = open_model(options.common);
  TranslateSettings settings = settings_of(model, options.common);
  settings.search.n_best = options.nbest;
  if (options.nbest > settings.search.beam) {
    throw UserError(format("--nbest {} needs a beam at least as wide; add --beam {}", options.nbest,
                           options.nbest));
  }
  const bool interactive = ::isatty(STDIN_FILENO) == 1;
  const std::string prompt = interactive ? "> " : "";
  Progress progress("translate", 0, "lines");
  Chunk chunk;
  if (interactive) {
    const std::string hint = ": a line in, its translation out; Ctrl-D ends\n";
    std::fputs((model.folder.string() + hint + prompt).c_str(), stderr);
  } else {
    settings.on_progress = [&](std::size_t lines) {
      progress.at(static_cast<double>(chunk.first_line - 1 + lines));
    };
  }
  LineReader reader("-", kMaxLineBytes);  // after the prompt: it waits for the first bytes
  LineWarnings warnings;
  const std::size_t most_lines = interactive ? 1 : static_cast<std::size_t>(options.chunk);
  while (read_chunk(reader, most_lines, warnings, chunk)) {
    print(translated(model, settings, chunk, options, warnings));
    std::fputs(prompt.c_str(), stderr);
  }
  if (interactive) std::fputs("\n", stderr);
  warnings.finish();
  return ExitCode::ok;
}

}  // namespace

void add_translate(CommandLine& line) {
  Verb& verb = line.verb("translate",
                         "Translate standard input to standard output, a line for a line; a "
                         "terminal gets a prompt");
  auto options = std::make_shared<Options>();
  add_translate_options(verb, options->common);
  verb.option("--nbest", options->nbest,
              "translations of each line; above 1 they are printed as: line ||| text ||| score", 1,
              256);
  verb.flag("--scores", options->scores, "put the score and a tab before each translation");
  verb.flag("--json", options->json,
            "print one JSON object a line: text, hypotheses [{text, score, tokens}]");
  verb.option("--chunk", options->chunk,
              "lines read before they are translated; 1 answers each line at once", 1, 1000000);
  verb.run([options] { return translate(*options); });
}

}  // namespace tandem
