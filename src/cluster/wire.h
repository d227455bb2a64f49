// wire: numbers and texts as the bytes of one message between workers, little-endian. Reading
// treats the bytes as hostile: what is missing reads as 0 or "", and ok() tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

class WireWriter {
 public:
  WireWriter& u8(std::uint8_t value);
  WireWriter& u32(std::uint32_t value);
  WireWriter& i64(std::int64_t value);
  WireWriter& text(std::string_view value);  // its length, then its bytes
  WireWriter& raw(std::string_view bytes);   // without a length: the reader knows it
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  std::uint8_t u8();
  std::uint32_t u32();
  std::int64_t i64();
  std::string_view text();
  std::string_view raw(std::size_t count);
  bool ok() const { return ok_; }                         // nothing was missing so far
  bool complete() const { return ok_ && rest_.empty(); }  // and nothing is left over

 private:
  std::uint64_t number(std::size_t bytes);
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tandem
