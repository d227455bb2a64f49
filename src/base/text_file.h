// text_file: lines of a text file, plain or gzip (told by its first bytes), in bounded memory.
// A line ends with \n only; a \r before it, a BOM at the start of the file and a missing last \n
// are not part of any line. U+2028 and NUL are ordinary bytes here; judging them is the caller's
// business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace tandem {

// clean: as told above. raw: nothing but the \n is taken away, as tools that promise equal bytes
// need.
enum class LineEnds { clean, raw };

class LineReader {
 public:
  // Lines longer than max_line_bytes are cut there (or up to three bytes before, never inside a
  // UTF-8 character) and reported by was_cut(); the rest is passed over, so that a broken file
  // cannot fill the memory. path "-" reads standard input.
  explicit LineReader(const std::filesystem::path& path, std::size_t max_line_bytes = 1 << 20,
                      LineEnds ends = LineEnds::clean);
  // The same for bytes from elsewhere.
  explicit LineReader(std::unique_ptr<ByteSource> bytes, std::size_t max_line_bytes = 1 << 20,
                      LineEnds ends = LineEnds::clean);
  ~LineReader();
  LineReader(LineReader&&) noexcept;

  // False at the end of the file. The view lives until the next call.
  bool next(std::string_view& line);
  bool was_cut() const;               // about the line just read
  std::uint64_t line_number() const;  // of the line just read, from 1
  std::uint64_t bytes_read() const;  // of the file as it lies on disk: what progress is measured in
  std::uint64_t text_bytes() const;  // uncompressed

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
