#include "cluster/wire_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tandem {
namespace {

std::uint16_t rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  // What is no number stays none: adding could carry it to infinity.
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40u : nearest);
}

constexpr std::size_t kPiece = 4096;  // floats; stay in the nearest cache between two loops

float widened(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace

void encode_bf16(std::span<const float> from, std::span<std::uint16_t> to) {
  const std::size_t size = from.size();
  for (std::size_t i = 0; i < size; ++i) to[i] = rounded(from[i]);
}

void decode_bf16(std::span<const std::uint16_t> from, std::span<float> to) {
  const std::size_t size = from.size();
  for (std::size_t i = 0; i < size; ++i) to[i] = widened(from[i]);
}

void add_bf16(std::span<const std::uint16_t> from, std::span<float> to) {
  const std::size_t size = to.size();
  for (std::size_t i = 0; i < size; ++i) to[i] += widened(from[i]);
}

void add_floats(std::span<const float> from, std::span<float> to) {
  const std::size_t size = to.size();
  for (std::size_t i = 0; i < size; ++i) to[i] += from[i];
}

void subtract_floats(std::span<const float> from, std::span<const float> less,
                     std::span<float> to) {
  const std::size_t size = to.size();
  for (std::size_t i = 0; i < size; ++i) to[i] = from[i] - less[i];
}

void sum_into_all(std::span<float* const> parts, std::size_t size) {
  for (std::size_t begin = 0; begin < size; begin += kPiece) {
    const std::size_t count = std::min(kPiece, size - begin);
    const std::span<float> sum(parts[0] + begin, count);
    for (std::size_t i = 1; i < parts.size(); ++i) add_floats({parts[i] + begin, count}, sum);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      std::memcpy(parts[i] + begin, sum.data(), count * sizeof(float));
    }
  }
}

void sum_into_one(std::span<float* const> parts, std::size_t size, std::size_t one) {
  std::array<float, kPiece> room;
  for (std::size_t begin = 0; begin < size; begin += kPiece) {
    const std::size_t count = std::min(kPiece, size - begin);
    const std::span<float> sum(room.data(), count);
    std::memcpy(sum.data(), parts[0] + begin, count * sizeof(float));
    for (std::size_t i = 1; i < parts.size(); ++i) add_floats({parts[i] + begin, count}, sum);
    std::memcpy(parts[one] + begin, sum.data(), count * sizeof(float));
  }
}

}  // namespace tandem
