#include "cluster/block_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/cpu_clones.h"

namespace tandem {
namespace {

constexpr std::size_t kLargestBlock = 256;
constexpr std::int32_t kInfinityBits = 0x7f800000;
constexpr std::int32_t kTinyBits = 0x0d800000;  // 2^-100: below it a scale has no inverse
constexpr std::uint16_t kNotANumber = 0x7fc0;

struct Layout {
  std::size_t block;
  float largest;  // whole number of either sign
};
constexpr Layout layout_of(BlockCode code) {
  return code == BlockCode::int8 ? Layout{256, 127.0F} : Layout{128, 7.0F};
}

std::size_t bytes_of_block(BlockCode code, std::size_t numbers) {
  return code == BlockCode::int8 ? numbers : (numbers + 1) / 2;
}

// Calls visit(first number, numbers, first byte of its codes, place of its scale).
template <class Visit>
void for_blocks(BlockCode code, std::size_t numbers, Visit&& visit) {
  const std::size_t block = layout_of(code).block;
  std::size_t byte = 2 * ((numbers + block - 1) / block);
  for (std::size_t first = 0, scale = 0; first < numbers; first += block, scale += 2) {
    const std::size_t size = std::min(block, numbers - first);
    visit(first, size, byte, scale);
    byte += bytes_of_block(code, size);
  }
}

float widened_scale(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// As whole numbers the bits of floats without sign are in the order of the floats, NaN on top.
TANDEM_CLONES std::int32_t largest_bits(const float* values, std::size_t size) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & 0x7fffffff);
  }
  return largest;
}

// Rounded up, so that the largest number of the block keeps within the whole numbers.
std::uint16_t scale_of(std::int32_t largest, float whole) {
  const float exact = std::bit_cast<float>(largest) / whole;
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(exact) + 0xffffU) >> 16);
}

TANDEM_CLONES void add_kept(const float* values, const float* kept, std::size_t size, float* sum) {
  for (std::size_t i = 0; i < size; ++i) sum[i] = values[i] + kept[i];
}

// whole: the nearest whole numbers of sum / scale; rest: what is left.
TANDEM_CLONES void round_block(const float* sum, std::size_t size, float scale, std::int32_t* whole,
                               float* rest) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it drops what is behind the point
  const float inverse = 1.0F / scale;
  for (std::size_t i = 0; i < size; ++i) {
    const float nearest = (sum[i] * inverse + kRound) - kRound;
    whole[i] = static_cast<std::int32_t>(nearest);
    rest[i] = sum[i] - nearest * scale;
  }
}

TANDEM_CLONES void pack_int8(const std::int32_t* whole, std::size_t size, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(whole[i]);
}

// The first half of a block lies in the lower half of each byte, the second in the upper.
TANDEM_CLONES void pack_int4(const std::int32_t* whole, std::size_t size, std::uint8_t* bytes) {
  const std::size_t half = (size + 1) / 2, upper = size / 2;
  for (std::size_t i = 0; i < half; ++i) bytes[i] = static_cast<std::uint8_t>(whole[i] & 15);
  for (std::size_t i = 0; i < upper; ++i) {
    bytes[i] = static_cast<std::uint8_t>(bytes[i] | ((whole[half + i] & 15) << 4));
  }
}

TANDEM_CLONES void unpack_int8(const std::uint8_t* bytes, std::size_t size, float scale,
                               float* to) {
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<float>(static_cast<std::int8_t>(bytes[i])) * scale;
  }
}

TANDEM_CLONES void unpack_int4(const std::uint8_t* bytes, std::size_t size, float scale,
                               float* to) {
  const std::size_t half = (size + 1) / 2, upper = size / 2;
  for (std::size_t i = 0; i < half; ++i) {
    to[i] = static_cast<float>(((bytes[i] & 15) ^ 8) - 8) * scale;
  }
  for (std::size_t i = 0; i < upper; ++i) {
    to[half + i] = static_cast<float>(((bytes[i] >> 4) ^ 8) - 8) * scale;
  }
}

void unpack(BlockCode code, std::span<const std::uint8_t> message, std::size_t scale_place,
            std::size_t byte, std::size_t size, float* to) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, message.data() + scale_place, sizeof bits);
  const float scale = widened_scale(bits);
  code == BlockCode::int8 ? unpack_int8(message.data() + byte, size, scale, to)
                          : unpack_int4(message.data() + byte, size, scale, to);
}

}  // namespace

std::int64_t coded_bytes(BlockCode code, std::int64_t numbers) {
  const auto block = static_cast<std::int64_t>(layout_of(code).block);
  const std::int64_t whole = numbers / block, left = numbers % block;
  const auto bytes = [&](std::int64_t count) {
    return static_cast<std::int64_t>(bytes_of_block(code, static_cast<std::size_t>(count)));
  };
  return whole * (2 + bytes(block)) + (left > 0 ? 2 + bytes(left) : 0);
}

void encode_blocks(BlockCode code, std::span<const float> values, std::span<const float> kept,
                   std::span<float> rest, std::span<std::uint8_t> message) {
  float sum[kLargestBlock], unwanted[kLargestBlock];
  std::int32_t whole[kLargestBlock];
  const float largest_whole = layout_of(code).largest;
  for_blocks(code, values.size(),
             [&](std::size_t first, std::size_t size, std::size_t byte, std::size_t scale_place) {
               if (kept.empty()) {
                 std::copy_n(values.data() + first, size, sum);
               } else {
                 add_kept(values.data() + first, kept.data() + first, size, sum);
               }
               float* const left = rest.empty() ? unwanted : rest.data() + first;
               const std::int32_t largest = largest_bits(sum, size);
               std::uint16_t scale = 0;
               if (largest >= kInfinityBits) {
                 scale = kNotANumber;
               } else if (largest >= kTinyBits) {
                 scale = scale_of(largest, largest_whole);
               }
               std::memcpy(message.data() + scale_place, &scale, sizeof scale);
               if (scale == 0 || scale == kNotANumber) {  // nothing is carried, all of it stays
                 std::fill_n(whole, size, 0);
                 std::copy_n(sum, size, left);
               } else {
                 round_block(sum, size, widened_scale(scale), whole, left);
               }
               code == BlockCode::int8 ? pack_int8(whole, size, message.data() + byte)
                                       : pack_int4(whole, size, message.data() + byte);
             });
}

void decode_blocks(BlockCode code, std::span<const std::uint8_t> message, std::span<float> to) {
  for_blocks(code, to.size(),
             [&](std::size_t first, std::size_t size, std::size_t byte, std::size_t scale) {
               unpack(code, message, scale, byte, size, to.data() + first);
             });
}

void add_blocks(BlockCode code, std::span<const std::uint8_t> message, std::span<float> to) {
  float block[kLargestBlock];
  for_blocks(code, to.size(),
             [&](std::size_t first, std::size_t size, std::size_t byte, std::size_t scale) {
               unpack(code, message, scale, byte, size, block);
               add_kept(to.data() + first, block, size, to.data() + first);
             });
}

}  // namespace tandem
