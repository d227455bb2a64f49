#include "base/text_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tandem {
namespace {

constexpr std::size_t kBlockBytes = 1 << 18;

// The length of text without a UTF-8 character that was cut in two at its end.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;  // inside a character
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return back < length ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace

struct LineReader::State {
  State(std::unique_ptr<ByteSource> bytes, std::size_t max_line, LineEnds ends)
      : source(std::move(bytes)),
        max_line_bytes(std::min(max_line, SIZE_MAX - 1)),
        clean(ends == LineEnds::clean) {
    block.resize(kBlockBytes);
  }
  bool refill() {
    begin = end = 0;
    if (clean && text_bytes == 0) {
      read_start();
    } else {
      read_some();
    }
    return begin < end;
  }
  std::size_t read_some() {
    const std::size_t n = source->read(std::span(block).subspan(end));
    end += n;
    text_bytes += n;
    return n;
  }
  // A BOM at the start of the text is passed over.
  void read_start() {
    constexpr std::string_view kBom = "\xEF\xBB\xBF";
    const auto start = [&] { return std::string_view(block.data(), end); };
    // On, as long as the little that came may be the beginning of a BOM.
    while (read_some() > 0 && end < kBom.size() && kBom.starts_with(start())) {
    }
    if (!start().starts_with(kBom)) return;
    begin = kBom.size();
    if (begin == end) read_some();
  }
  // Takes n bytes of the block into the line, up to one more than the limit: it may be a \r.
  void take(std::size_t n) {
    const std::size_t room = max_line_bytes + 1 - line.size();
    cut = cut || n > room;
    line.append(block.data() + begin, std::min(n, room));
    begin += n;
  }

  std::unique_ptr<ByteSource> source;
  std::size_t max_line_bytes;
  bool clean;
  std::vector<char> block;
  std::size_t begin = 0, end = 0;
  std::string line;  // only for lines that span blocks
  bool cut = false;
  std::uint64_t line_number = 0, text_bytes = 0;
};

LineReader::LineReader(const std::filesystem::path& path, std::size_t max_line_bytes, LineEnds ends)
    : LineReader(open_bytes(path), max_line_bytes, ends) {}
LineReader::LineReader(std::unique_ptr<ByteSource> bytes, std::size_t max_line_bytes, LineEnds ends)
    : state_(std::make_unique<State>(std::move(bytes), max_line_bytes, ends)) {}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;

bool LineReader::next(std::string_view& line) {
  State& s = *state_;
  s.cut = false;
  s.line.clear();
  if (s.begin == s.end && !s.refill()) return false;
  ++s.line_number;
  for (bool spans_blocks = false;; spans_blocks = true) {
    const char* const start = s.block.data() + s.begin;
    const void* const newline = std::memchr(start, '\n', s.end - s.begin);
    const bool ends = newline != nullptr;
    const std::size_t n = ends ? static_cast<std::size_t>(static_cast<const char*>(newline) - start)
                               : s.end - s.begin;
    if (ends && !spans_blocks && n <= s.max_line_bytes) {  // the usual case: no copy
      line = {start, n};
      s.begin += n + 1;
      break;
    }
    s.take(n);
    line = s.line;
    if (ends) ++s.begin;
    if (ends || !s.refill()) break;
  }
  if (s.clean && !s.cut && line.ends_with('\r')) line.remove_suffix(1);
  s.cut = s.cut || line.size() > s.max_line_bytes;
  if (s.cut) line = line.substr(0, whole_characters(line.substr(0, s.max_line_bytes)));
  return true;
}

bool LineReader::was_cut() const {
  return state_->cut;
}
std::uint64_t LineReader::line_number() const {
  return state_->line_number;
}
std::uint64_t LineReader::bytes_read() const {
  return state_->source->bytes_read();
}
std::uint64_t LineReader::text_bytes() const {
  return state_->text_bytes;
}

}  // namespace tandem
