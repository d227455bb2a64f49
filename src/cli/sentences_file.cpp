#include "cli/sentences_file.h"

#include "base/error.h"
#include "base/format.h"
#include "base/text_file.h"
#include "base/utf8.h"
#include "translate/python_text.h"

namespace tandem {

std::vector<std::string> read_sentences(const std::string& path) {
  constexpr std::size_t kMaxLineBytes = 16 << 20;  // a line of that length takes 1 GB of tables
  LineReader reader(path, kMaxLineBytes);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) {
    if (reader.was_cut()) {
      throw UserError(format("{}:{} is longer than {} MB; is this a text with one sentence a line?",
                             path, reader.line_number(), kMaxLineBytes >> 20));
    }
    if (!is_valid_utf8(line)) {
      throw UserError(
          format("{}:{} is not valid UTF-8; convert the file (iconv -t UTF-8) or repair the line",
                 path, reader.line_number()));
    }
    lines.emplace_back(strip_right(line));
  }
  return lines;
}

}  // namespace tandem
