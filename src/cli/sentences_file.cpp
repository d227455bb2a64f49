#include "cli/sentences_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "translate/python_text.h"

namespace tandem {

std::vector<std::string> read_sentences(const std::string& path, LineEnds ends) {
  constexpr std::size_t kMaxLineBytes = 16 << 20;  // a line of that length takes 1 GB of tables
  LineReader reader(path, kMaxLineBytes, ends);
  const std::string name = text_name(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) {
    if (reader.was_cut()) {
      throw UserError(format("{}:{} is longer than {} MB; is this a text with one sentence a line?",
                             name, reader.line_number(), kMaxLineBytes >> 20));
    }
    if (!is_valid_utf8(line)) {
      throw UserError(
          format("{}:{} is not valid UTF-8; convert the file (iconv -t UTF-8) or repair the line",
                 name, reader.line_number()));
    }
    lines.emplace_back(strip_right(line));
  }
  return lines;
}

std::string text_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

void refuse_standard_input_twice(const std::vector<std::string>& paths) {
  if (std::ranges::count(paths, "-") < 2) return;
  throw UserError("standard input can be read once only; name a file for one of them");
}

}  // namespace tandem
