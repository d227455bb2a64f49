// sentences_file: a text to be scored or translated as a whole, one sentence a line.
#pragma once

#include <string>
#include <vector>

#include "base/text_file.h"

namespace tandem {

// Lines without the white space at their ends, as sacreBLEU reads them: to it a byte order mark is
// a character of the first word. ends=clean: to be translated, where such a mark is no text. Plain
// or gzip, "-" is standard input. A line that is no UTF-8 is a UserError that names it.
std::vector<std::string> read_sentences(const std::string& path, LineEnds ends = LineEnds::raw);

// As it is called in a message.
std::string text_name(const std::string& path);

// Of the texts of one command: it ends when it is read, so a second one would be empty.
void refuse_standard_input_twice(const std::vector<std::string>& paths);

}  // namespace tandem
