#include "base/tar_member.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::size_t kTarBlock = 512;

// A header of the ustar format, which GNU tar and pax also write; other names for long paths are
// extra entries, which are passed over.
struct TarHeader {
  std::array<char, kTarBlock> bytes{};

  std::string_view field(std::size_t at, std::size_t size) const { return {&bytes[at], size}; }
  std::string_view text(std::size_t at, std::size_t size) const {
    const std::string_view all = field(at, size);
    return all.substr(0, std::min(all.find('\0'), size));
  }
  bool is_blank() const {
    return std::ranges::all_of(bytes, [](char c) { return c == 0; });
  }
  std::string path() const {
    const std::string_view name = text(0, 100);
    const std::string_view prefix =
        field(257, 6) == std::string_view("ustar\0", 6) ? text(345, 155) : std::string_view();
    return prefix.empty() ? std::string(name) : format("{}/{}", prefix, name);
  }
  bool is_file() const { return bytes[156] == '0' || bytes[156] == '\0' || bytes[156] == '7'; }
};

// Octal digits between blanks, or big-endian bytes behind one with the highest bit set.
std::optional<std::uint64_t> tar_number(std::string_view field) {
  std::uint64_t value = 0;
  if ((field[0] & 0x80) != 0) {
    for (std::size_t i = 1; i < field.size(); ++i) {
      if (value >> 54 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(field[i]);
    }
    return value;
  }
  const std::size_t begin = std::min(field.find_first_not_of(' '), field.size());
  const std::size_t end =
      std::min(field.find_first_of(std::string_view(" \0", 2), begin), field.size());
  for (const char c : field.substr(begin, end - begin)) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool checksum_is_right(const TarHeader& header) {
  constexpr std::size_t kAt = 148, kSize = 8;  // counted as blanks
  std::uint64_t sum = kSize * ' ';
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    if (i < kAt || i >= kAt + kSize) sum += static_cast<unsigned char>(header.bytes[i]);
  }
  return tar_number(header.field(kAt, kSize)) == sum;
}

std::string_view without_dot(std::string_view path) {
  return path.starts_with("./") ? path.substr(2) : path;
}

class TarMember final : public ByteSource {
 public:
  TarMember(const std::filesystem::path& archive, const std::string& member)
      : archive_(archive.string()), member_(member), source_(open_bytes(archive)) {
    for (TarHeader header; next_header(header);) {
      const auto size = tar_number(header.field(124, 12));
      if (!size) damaged();
      if (header.is_file() && without_dot(header.path()) == without_dot(member)) {
        left_ = *size;
        return;
      }
      pass_over((*size + kTarBlock - 1) / kTarBlock * kTarBlock);
    }
    throw UserError(format("{} has no file {} in it", archive_, member));
  }

  std::size_t read(std::span<char> out) override {
    if (left_ == 0) return 0;
    const std::size_t n = source_->read(out.first(std::min<std::uint64_t>(left_, out.size())));
    if (n == 0) cut_short();
    left_ -= n;
    return n;
  }
  std::uint64_t bytes_read() const override { return source_->bytes_read(); }

 private:
  // False at the end of the archive: a block of zeros.
  bool next_header(TarHeader& header) {
    std::size_t have = 0;
    while (have < kTarBlock) {
      const std::size_t n = source_->read(std::span(header.bytes).subspan(have));
      if (n == 0) cut_short();
      have += n;
    }
    if (header.is_blank()) return false;
    if (!checksum_is_right(header)) damaged();
    return true;
  }
  void pass_over(std::uint64_t bytes) {
    std::vector<char> block(std::size_t{1} << 16);
    while (bytes > 0) {
      const std::size_t n =
          source_->read(std::span(block).first(std::min<std::uint64_t>(bytes, block.size())));
      if (n == 0) cut_short();
      bytes -= n;
    }
  }
  [[noreturn]] void cut_short() const {
    throw UserError(format("{}: the archive is cut short, looking for {}", archive_, member_));
  }
  [[noreturn]] void damaged() const {
    throw UserError(
        format("{}: not a tar archive, or a damaged one, looking for {}", archive_, member_));
  }

  std::string archive_, member_;
  std::unique_ptr<ByteSource> source_;
  std::uint64_t left_ = 0;  // bytes of the member
};

}  // namespace

std::unique_ptr<ByteSource> open_member(const std::filesystem::path& archive,
                                        const std::string& member) {
  return std::make_unique<TarMember>(archive, member);
}

}  // namespace tandem
