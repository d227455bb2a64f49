#include "model/ops/cpu_byte_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "model/ops/cpu_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem::cpu {
namespace {

constexpr float kMostWeight = 127;

// The largest whole number for which a sum over this depth stays within 32 bits.
float most_of_row(std::int64_t depth) {
  return static_cast<float>(std::min<std::int64_t>(32767, 2147483647 / (127 * depth)));
}

// Up to 6 rows times one panel: c = sum * (scale of the row * scale of the column) + bias.
struct ByteTile {
  const std::int16_t* a;
  std::int64_t a_stride;
  const float* a_scales;
  const std::int8_t* panel;
  std::int64_t pairs;
  const float *scales, *bias;  // of the panel's columns
  float* c;
  std::int64_t c_stride;
};

template <int kRows>
void multiply_plain(const ByteTile& tile) {
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t i = 0; i < kPanel; ++i) {
      std::int32_t sum = 0;
      for (std::int64_t d = 0; d < 2 * tile.pairs; ++d) {
        sum += tile.a[r * tile.a_stride + d] * tile.panel[d / 2 * 2 * kPanel + 2 * i + d % 2];
      }
      tile.c[r * tile.c_stride + i] =
          static_cast<float>(sum) * (tile.a_scales[r] * tile.scales[i]) + tile.bias[i];
    }
  }
}

#if defined(__x86_64__)
TANDEM_INLINE std::int32_t pair_at(const std::int16_t* a) {
  std::int32_t pair;
  std::memcpy(&pair, a, sizeof pair);
  return pair;
}

// Sums of whole numbers to c, some columns of a row at a time.
template <class Floats, class Whole>
TANDEM_INLINE void store_scaled(Whole sums, const ByteTile& tile, int row, std::int64_t column) {
  Floats scales, bias;
  std::memcpy(&scales, tile.scales + column, sizeof scales);
  std::memcpy(&bias, tile.bias + column, sizeof bias);
  const Floats c = __builtin_convertvector(sums, Floats) * (tile.a_scales[row] * scales) + bias;
  std::memcpy(tile.c + row * tile.c_stride + column, &c, sizeof c);
}

template <int kRows>
__attribute__((target("avx2"))) void multiply_avx2(const ByteTile& tile) {
  using Whole = std::int32_t __attribute__((vector_size(32)));
  Whole low[kRows], high[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = Whole{};
  const std::int8_t* b = tile.panel;
  const std::int16_t* a = tile.a;
  for (std::int64_t pair = 0; pair < tile.pairs; ++pair, a += 2, b += 2 * kPanel) {
    const auto* from = reinterpret_cast<const __m128i*>(b);
    const __m256i b_low = _mm256_cvtepi8_epi16(_mm_loadu_si128(from));
    const __m256i b_high = _mm256_cvtepi8_epi16(_mm_loadu_si128(from + 1));
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256i x = _mm256_set1_epi32(pair_at(a + r * tile.a_stride));
      low[r] += reinterpret_cast<Whole>(_mm256_madd_epi16(b_low, x));
      high[r] += reinterpret_cast<Whole>(_mm256_madd_epi16(b_high, x));
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    store_scaled<Eight>(low[r], tile, r, 0);
    store_scaled<Eight>(high[r], tile, r, kEight);
  }
}

template <int kRows>
__attribute__((target("avx512f,avx512bw"))) void multiply_avx512(const ByteTile& tile) {
  using Whole = std::int32_t __attribute__((vector_size(64)));
  using Sixteen = float __attribute__((vector_size(64)));
  Whole sums[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) sums[r] = Whole{};
  const std::int8_t* b = tile.panel;
  const std::int16_t* a = tile.a;
  for (std::int64_t pair = 0; pair < tile.pairs; ++pair, a += 2, b += 2 * kPanel) {
    const __m512i wide =
        _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_set1_epi32(pair_at(a + r * tile.a_stride));
      sums[r] += reinterpret_cast<Whole>(_mm512_madd_epi16(wide, x));
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) store_scaled<Sixteen>(sums[r], tile, r, 0);
}
#endif

using ByteKernel = void (*)(const ByteTile&);
template <int... kRows>
ByteKernel kernel_of(ByteLoop loop, std::int64_t rows, std::integer_sequence<int, kRows...>) {
#if defined(__x86_64__)
  constexpr ByteKernel kAvx2[] = {multiply_avx2<kRows + 1>...};
  constexpr ByteKernel kAvx512[] = {multiply_avx512<kRows + 1>...};
  if (loop == ByteLoop::avx2) return kAvx2[rows - 1];
  if (loop == ByteLoop::avx512) return kAvx512[rows - 1];
#endif
  constexpr ByteKernel kPlain[] = {multiply_plain<kRows + 1>...};
  return kPlain[rows - 1];
}

TANDEM_INLINE float largest_magnitude(const float* x, std::int64_t n) {
  float most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[i]));
  return most;
}

// To the nearest whole number, for magnitudes below 2^22.
TANDEM_INLINE std::int32_t nearest(float x) {
  return std::bit_cast<std::int32_t>(x + 12582912.0f) - 0x4b400000;
}

// Returns the scale. A row without numbers (NaN) becomes one of zeros with such a scale.
TANDEM_CLONES float round_row(const float* x, std::int64_t n, float most, std::int16_t* to) {
  const float largest = largest_magnitude(x, n);
  const float factor = largest > 0 && std::isfinite(largest) ? most / largest : 0.0f;
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<std::int16_t>(nearest(x[i] * factor));
  return largest / most;
}

// A panel that is not full: c and bias have only `columns` columns.
void multiply_last(ByteKernel multiply, ByteTile tile, std::int64_t rows, std::int64_t columns) {
  float bias[kPanel] = {}, sums[kTileRows * kPanel];
  std::copy_n(tile.bias, columns, bias);
  float* c = tile.c;
  tile.bias = bias;
  tile.c = sums;
  const std::int64_t stride = std::exchange(tile.c_stride, kPanel);
  multiply(tile);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(sums + r * kPanel, columns, c + r * stride);
  }
}

}  // namespace

ByteLoop quickest_byte_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw")) return ByteLoop::avx512;
  if (__builtin_cpu_supports("avx2")) return ByteLoop::avx2;
#endif
  return ByteLoop::plain;
}

BytePanels::BytePanels(std::int64_t depth, std::int64_t columns)
    : depth_(depth),
      columns_(columns),
      pairs_((depth + 1) / 2),
      values_(static_cast<std::size_t>((columns + kPanel - 1) / kPanel * kPanel * 2 * pairs_)),
      scales_(static_cast<std::size_t>((columns + kPanel - 1) / kPanel * kPanel)) {}

BytePanels BytePanels::of_turned(const float* matrix, std::int64_t depth, std::int64_t columns) {
  BytePanels panels(depth, columns);
  std::vector<std::int16_t> whole(static_cast<std::size_t>(depth));
  for (std::int64_t column = 0; column < columns; ++column) {
    panels.scales_[static_cast<std::size_t>(column)] =
        round_row(matrix + column * depth, depth, kMostWeight, whole.data());
    std::int8_t* to =
        panels.values_.data() + column / kPanel * kPanel * 2 * panels.pairs_ + column % kPanel * 2;
    for (std::int64_t d = 0; d < depth; ++d) {
      to[d / 2 * 2 * kPanel + d % 2] = static_cast<std::int8_t>(whole[static_cast<std::size_t>(d)]);
    }
  }
  return panels;
}

void BytePanels::round(const float* a, std::int64_t rows, RoundedRows& rounded) const {
  rounded.stride = 2 * pairs_;
  const auto size = static_cast<std::size_t>(rows * rounded.stride);
  if (rounded.values.size() < size) rounded.values.resize(size);
  rounded.scales.resize(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int16_t* to = rounded.values.data() + i * rounded.stride;
    rounded.scales[static_cast<std::size_t>(i)] =
        round_row(a + i * depth_, depth_, most_of_row(depth_), to);
    if (rounded.stride > depth_) to[depth_] = 0;
  }
}

void BytePanels::times(const RoundedRows& a, std::int64_t begin, std::int64_t rows,
                       std::int64_t first, std::int64_t last, const float* bias, float* c,
                       std::int64_t stride) const {
  constexpr std::int64_t kColumnsABlock = 512;
  constexpr float kNoBias[kPanel] = {};
  for (std::int64_t block = first; block < last; block += kColumnsABlock) {
    const std::int64_t block_end = std::min(last, block + kColumnsABlock);
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t count = std::min<std::int64_t>(kTileRows, rows - i);
      const ByteKernel multiply =
          kernel_of(loop_, count, std::make_integer_sequence<int, kTileRows>());
      ByteTile tile{a.values.data() + (begin + i) * a.stride,
                    a.stride,
                    a.scales.data() + begin + i,
                    nullptr,
                    pairs_,
                    nullptr,
                    nullptr,
                    nullptr,
                    stride};
      for (std::int64_t column = block; column < block_end; column += kPanel) {
        tile.panel = values_.data() + column * 2 * pairs_;
        tile.scales = scales_.data() + column;
        tile.bias = bias == nullptr ? kNoBias : bias + column;
        tile.c = c + i * stride + column - first;
        if (column + kPanel <= last) {
          multiply(tile);
        } else {
          multiply_last(multiply, tile, count, last - column);
        }
      }
    }
  }
}

}  // namespace tandem::cpu
