// tandem decode: subwords back to text, as spm_decode does.
#include <algorithm>
#include <charconv>

#include "base/cores.h"
#include "base/format.h"
#include "cli/line_filter.h"
#include "cli/verbs.h"
#include "data/vocab.h"

namespace tandem {
namespace {

struct Options {
  std::string vocab;
  bool ids = false;
  std::int64_t threads = usable_cores();
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::int32_t id_of(const std::string& word) {
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw UserError(format("\"{}\" is not an id; leave out --ids if these are pieces", word));
  }
  return id;
}

}  // namespace

void add_decode(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("decode", "Join subwords to text, standard input to standard output");
  verb.option("--vocab", o->vocab, "SentencePiece .model", true);
  verb.flag("--ids", o->ids, "the input is ids, not pieces");
  verb.option("--threads", o->threads, "threads", 1, 1024);
  verb.run([o] {
    const auto vocab = Vocab::load(o->vocab);
    const auto decode_line = [&](std::string_view text, std::string& out) {
      const auto words = words_of(text);
      if (!o->ids) {
        out += vocab->decode_pieces(words);
        return;
      }
      std::vector<std::int32_t> ids;
      for (const std::string& word : words) ids.push_back(id_of(word));
      out += vocab->decode(ids);
    };
    filter_lines(static_cast<std::size_t>(o->threads), [&] { return LineAction(decode_line); });
    return ExitCode::ok;
  });
}

}  // namespace tandem
