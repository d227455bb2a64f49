#include "base/byte_source.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::size_t kRawBytes = 1 << 18;

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const fs::path& path)
      : name_(path == "-" ? "standard input" : path.string()),
        fd_(path == "-" ? FileDescriptor(::dup(STDIN_FILENO)) : open_for_reading(path)) {
    raw_.resize(kRawBytes);
    fill();
    if (raw_size_ == 1 && raw_[0] == 0x1f) fill(1);  // a pipe may bring the two apart
    gzip_ = raw_size_ >= 2 && raw_[0] == 0x1f && raw_[1] == 0x8b;
    if (gzip_ && inflateInit2(&zlib_, 15 + 16) != Z_OK) throw EnvError("zlib cannot start");
  }
  ~FileBytes() override {
    if (gzip_) inflateEnd(&zlib_);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(std::span<char> out) override {
    return gzip_ ? inflate_into(out) : copy_into(out);
  }
  std::uint64_t bytes_read() const override { return bytes_read_ - (raw_size_ - raw_begin_); }

 private:
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
    if (n < 0) throw_cannot("read", name_, errno);  // of a directory as standard input, too
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
          if (member_open_) throw UserError(format("{}: the gzip file is cut short", name_));
          return 0;
        }
      }
      if (!member_open_ && began_) {  // gzip files may be several members one after another
        while (raw_begin_ < raw_size_ && raw_[raw_begin_] == 0) ++raw_begin_;  // or end in zeros
        if (raw_begin_ == raw_size_) continue;
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
        throw UserError(format("{}: the gzip file is damaged ({})", name_,
                               zlib_.msg != nullptr ? zlib_.msg : "bad data"));
      }
    }
    return out.size() - zlib_.avail_out;
  }

  std::string name_;  // for errors
  FileDescriptor fd_;
  std::vector<unsigned char> raw_;
  std::size_t raw_begin_ = 0, raw_size_ = 0;
  std::uint64_t bytes_read_ = 0;
  bool ended_ = false, gzip_ = false, began_ = false, member_open_ = false;
  z_stream zlib_{};
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const fs::path& path) {
  return std::make_unique<FileBytes>(path);
}

}  // namespace tandem
