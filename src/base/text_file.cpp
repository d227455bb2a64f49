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
  explicit ByteSource(const fs::path& path)
      : path_(path),
        fd_(path == "-" ? FileDescriptor(::dup(STDIN_FILENO)) : open_for_reading(path)) {
    raw_.resize(kBlockBytes);
    fill();
    gzip_ = raw_size_ >= 2 && raw_[0] == 0x1f && raw_[1] == 0x8b;
    if (gzip_ && inflateInit2(&zlib_, 15 + 16) != Z_OK) throw EnvError("zlib cannot start");
  }
  ~ByteSource() {
    if (gzip_) inflateEnd(&zlib_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Up to out.size() bytes; 0 at the end.
  std::size_t read(std::span<char> out) {
    if (gzip_) return inflate_into(out);
    if (raw_begin_ == raw_size_) fill();
    const std::size_t n = std::min(out.size(), raw_size_ - raw_begin_);
    std::memcpy(out.data(), raw_.data() + raw_begin_, n);
    raw_begin_ += n;
    return n;
  }
  std::uint64_t bytes_read() const { return bytes_read_ - (raw_size_ - raw_begin_); }

 private:
  void fill() {
    ssize_t n = 0;
    do {
      n = ::read(fd_.get(), raw_.data(), raw_.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) throw EnvError(format("cannot read {}: {}", path_.string(), errno_text(errno)));
    raw_begin_ = 0;
    raw_size_ = static_cast<std::size_t>(n);
    bytes_read_ += raw_size_;
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
  FileDescriptor fd_;
  std::vector<unsigned char> raw_;
  std::size_t raw_begin_ = 0, raw_size_ = 0;
  std::uint64_t bytes_read_ = 0;
  bool gzip_ = false, began_ = false, member_open_ = false;
  z_stream zlib_{};
};

}  // namespace

struct LineReader::State {
  State(const fs::path& path, std::size_t max_line, LineEnds ends)
      : source(path), max_line_bytes(max_line), clean(ends == LineEnds::clean) {
    block.resize(kBlockBytes);
    refill();
    constexpr std::string_view kBom = "\xEF\xBB\xBF";
    if (clean && std::string_view(block.data(), end).starts_with(kBom)) begin = kBom.size();
  }
  bool refill() {
    begin = 0;
    end = source.read(block);
    text_bytes += end;
    return end > 0;
  }
  // Takes n bytes of the block into the line, up to the limit.
  void take(std::size_t n) {
    const std::size_t room = max_line_bytes - line.size();
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
  std::uint64_t line_number = 0, text_bytes = 0;
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
  if (s.clean && line.ends_with('\r')) line.remove_suffix(1);
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
  return state_->text_bytes;
}

std::uint64_t count_lines(const fs::path& path) {
  ByteSource source(path);
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
