// sentences_file: a text to be scored or translated as a whole, one sentence a line.
#pragma once

#include <string>
#include <vector>

namespace tandem {

// Lines without the white space at their ends, which sacreBLEU removes when it reads them. Only in
// one thing do we read otherwise: a byte order mark is no text here, but a character to sacreBLEU.
// Plain or gzip, "-" is standard input. A line that is no UTF-8 is a UserError that names it.
std::vector<std::string> read_sentences(const std::string& path);

}  // namespace tandem
