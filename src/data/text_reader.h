// text_reader: the lines of a text that may lie in several files, or in files of archives, as if
// they were one file. Of an .sgm file (NIST's form of test sets) the lines are its segments, as
// sacreBLEU reads them: white space is made one blank, entities stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text_file.h"

namespace tandem {

struct TextPlace {
  fs::path file;
  std::string member;  // of the archive `file`; "": the file itself
};

struct TextFiles {
  TextFiles() = default;
  TextFiles(fs::path file) : places{{std::move(file), ""}} {}
  std::string name() const;  // for messages
  std::vector<TextPlace> places;
};

class TextReader {
 public:
  explicit TextReader(TextFiles files);
  // False at the end. The view lives until the next call.
  bool next(std::string_view& line);
  bool was_cut() const { return lines_->was_cut(); }  // about the line just read
  std::uint64_t text_bytes() const;                   // uncompressed, of all that was read

 private:
  bool next_place();
  bool next_segment(std::string_view& line);

  TextFiles files_;
  std::size_t places_begun_ = 0;
  bool sgm_ = false;
  std::optional<LineReader> lines_;
  std::uint64_t earlier_bytes_ = 0;
  std::string segment_;
};

}  // namespace tandem
