#include "cluster/wire.h"

#include "base/error.h"

namespace tandem {
namespace {

void append(std::string& bytes, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

WireWriter& WireWriter::u8(std::uint8_t value) {
  append(bytes_, value, 1);
  return *this;
}

WireWriter& WireWriter::u32(std::uint32_t value) {
  append(bytes_, value, 4);
  return *this;
}

WireWriter& WireWriter::i64(std::int64_t value) {
  append(bytes_, static_cast<std::uint64_t>(value), 8);
  return *this;
}

WireWriter& WireWriter::text(std::string_view value) {
  check(value.size() <= UINT32_MAX, "a text of 4 GB in a message");
  return u32(static_cast<std::uint32_t>(value.size())).raw(value);
}

WireWriter& WireWriter::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

std::uint64_t WireReader::number(std::size_t bytes) {
  const std::string_view part = raw(bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(part[i])) << (8 * i);
  }
  return value;
}

std::uint8_t WireReader::u8() {
  return static_cast<std::uint8_t>(number(1));
}

std::uint32_t WireReader::u32() {
  return static_cast<std::uint32_t>(number(4));
}

std::int64_t WireReader::i64() {
  return static_cast<std::int64_t>(number(8));
}

std::string_view WireReader::text() {
  return raw(u32());
}

std::string_view WireReader::raw(std::size_t count) {
  if (!ok_ || rest_.size() < count) {
    ok_ = false;
    return {};
  }
  const std::string_view part = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return part;
}

}  // namespace tandem
