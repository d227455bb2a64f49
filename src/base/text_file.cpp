#include "base/text_file.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::size_t kBlockBytes = 1 << 18;

// The uncompressed bytes of a file, block by block.
class ByteSource {
 public:
  ByteSource(const fs::path& path, LineEnds ends)
      : path_(path),
        keep_bom_(ends == LineEnds::raw),
        fd_(path == "-" ? FileDescriptor(::dup(STDIN_FILENO)) : open_for_reading(path)) {
    raw_.resize(kBlockBytes);
    fill();
    if (raw_size_ == 1 && raw_[0] == 0x1f) fill(1);  // a pipe may bring the two apart
    gzip_ = raw_size_ >= 2 && raw_[0] == 0x1f && raw_[1] == 0x8b;
    if (gzip_ && inflateInit2(&zlib_, 15 + 16) != Z_OK) throw EnvError("zlib cannot start");
  }
  ~ByteSource() {
    if (gzip_) inflateEnd(&zlib_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Up to out.size() bytes; 0 at the end. A BOM at the start of the file is passed over.
  std::size_t read(std::span<char> out) {
    if (text_bytes_ > 0 || keep_bom_) return read_some(out);
    constexpr std::string_view kBom = "\xEF\xBB\xBF";
    std::string_view start;
    for (;;) {  // on, as long as the little that came may be the beginning of a BOM
      const std::size_t n = read_some(out.subspan(start.size()));
      start = {out.data(), start.size() + n};
      if (n == 0 || start.size() >= kBom.size() || !kBom.starts_with(start)) break;
    }
    if (!start.starts_with(kBom)) return start.size();
    if (start == kBom) return read_some(out);
    std::memmove(out.data(), start.data() + kBom.size(), start.size() - kBom.size());
    return start.size() - kBom.size();
  }
  std::uint64_t bytes_read() const { return bytes_read_ - (raw_size_ - raw_begin_); }
  std::uint64_t text_bytes() const { return text_bytes_; }

 private:
  std::size_t read_some(std::span<char> out) {
    const std::size_t n = gzip_ ? inflate_into(out) : copy_into(out);
    text_bytes_ += n;
    return n;
  }

  std::size_t copy_into(std::span<char> out) {
    if (raw_begin_ == raw_size_) fill();
    const std::size_t n = std::min(out.size(), raw_size_ - raw_begin_);
    std::memcpy(out.data(), raw_.data() + raw_begin_, n);
    raw_begin_ += n;
    return n;
  }

  // Reads the next bytes of the file behind the first `keep` that are there. At the end it does not
  // ask again: a terminal would then wait for a second end.
  void fill(std::size_t keep = 0) {
    ssize_t n = 0;
    if (!ended_) {
      do {
        n = ::read(fd_.get(), raw_.data() + keep, raw_.size() - keep);
      } while (n < 0 && errno == EINTR);
    }
    if (n < 0) throw EnvError(format("cannot read {}: {}", path_.string(), errno_text(errno)));
    ended_ = n == 0;
    raw_begin_ = 0;
    raw_size_ = keep + static_cast<std::size_t>(n);
    bytes_read_ += static_cast<std::uint64_t>(n);
  }

  std::size_t inflate_into(std::span<char> out) {
    zlib_.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib_.avail_out = static_cast<uInt>(out.size());
    while (zlib_.avail_out == out.size()) {
      if (raw_begin_ == raw_size_) {
        fill();
        if (raw_size_ == 0) {
          if (member_open_)
            throw UserError(format("{}: the gzip file is cut short", path_.string()));
          return 0;
        }
      }
      if (!member_open_ && began_) {  // gzip files may be several members one after another
        inflateReset(&zlib_);
      }
      began_ = member_open_ = true;
      zlib_.next_in = raw_.data() + raw_begin_;
      zlib_.avail_in = static_cast<uInt>(raw_size_ - raw_begin_);
      const int status = ::inflate(&zlib_, Z_NO_FLUSH);
      raw_begin_ = raw_size_ - zlib_.avail_in;
      if (status == Z_STREAM_END) {
        member_open_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw UserError(format("{}: the gzip file is damaged ({})", path_.string(),
                               zlib_.msg != nullptr ? zlib_.msg : "bad data"));
      }
    }
    return out.size() - zlib_.avail_out;
  }

  fs::path path_;
  bool keep_bom_;
  FileDescriptor fd_;
  std::vector<unsigned char> raw_;
  std::size_t raw_begin_ = 0, raw_size_ = 0;
  std::uint64_t bytes_read_ = 0, text_bytes_ = 0;
  bool ended_ = false, gzip_ = false, began_ = false, member_open_ = false;
  z_stream zlib_{};
};

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
  State(const fs::path& path, std::size_t max_line, LineEnds ends)
      : source(path, ends),
        max_line_bytes(std::min(max_line, SIZE_MAX - 1)),
        clean(ends == LineEnds::clean) {
    block.resize(kBlockBytes);
  }
  bool refill() {
    begin = 0;
    end = source.read(block);
    return end > 0;
  }
  // Takes n bytes of the block into the line, up to one more than the limit: it may be a \r.
  void take(std::size_t n) {
    const std::size_t room = max_line_bytes + 1 - line.size();
    cut = cut || n > room;
    line.append(block.data() + begin, std::min(n, room));
    begin += n;
  }

  ByteSource source;
  std::size_t max_line_bytes;
  bool clean;
  std::vector<char> block;
  std::size_t begin = 0, end = 0;
  std::string line;  // only for lines that span blocks
  bool cut = false;
  std::uint64_t line_number = 0;
};

LineReader::LineReader(const fs::path& path, std::size_t max_line_bytes, LineEnds ends)
    : state_(std::make_unique<State>(path, max_line_bytes, ends)) {}
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
  return state_->source.bytes_read();
}
std::uint64_t LineReader::text_bytes() const {
  return state_->source.text_bytes();
}

std::uint64_t count_lines(const fs::path& path) {
  ByteSource source(path, LineEnds::clean);
  std::vector<char> block(kBlockBytes);
  std::uint64_t lines = 0;
  char last = '\n';
  while (const std::size_t n = source.read(block)) {
    lines += static_cast<std::uint64_t>(
        std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n), '\n'));
    last = block[n - 1];
  }
  return lines + (last == '\n' ? 0 : 1);
}

}  // namespace tandem
