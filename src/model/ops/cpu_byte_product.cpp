#include "model/ops/cpu_byte_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

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

// Sums [rows, 16] of whole numbers: up to 6 rows times one panel.
struct ByteTile {
  const std::int16_t* a;
  std::int64_t a_stride;
  const std::int8_t* panel;
  std::int64_t pairs;
  std::int32_t* sums;
};

void multiply_plain(std::int64_t rows, const ByteTile& tile) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < kPanel; ++i) {
      std::int32_t sum = 0;
      for (std::int64_t d = 0; d < 2 * tile.pairs; ++d) {
        sum += tile.a[r * tile.a_stride + d] *
               tile.panel[d / 2 * 2 * kPanel + 2 * i + d % 2];
      }
      tile.sums[r * kPanel + i] = sum;
    }
  }
}

#if defined(__x86_64__)
std::int32_t pair_at(const std::int16_t* a) {
  std::int32_t pair;
  std::memcpy(&pair, a, sizeof pair);
  return pair;
}

template <int kRows>
__attribute__((target("avx2"))) void multiply_avx2(const ByteTile& tile) {
  __m256i low[kRows], high[kRows];
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = _mm256_setzero_si256();
  const std::int8_t* b = tile.panel;
  for (std::int64_t pair = 0; pair < tile.pairs; ++pair, b += 2 * kPanel) {
    const auto* from = reinterpret_cast<const __m128i*>(b);
    const __m256i b_low = _mm256_cvtepi8_epi16(_mm_loadu_si128(from));
    const __m256i b_high = _mm256_cvtepi8_epi16(_mm_loadu_si128(from + 1));
    for (int r = 0; r < kRows; ++r) {
      const __m256i x = _mm256_set1_epi32(pair_at(tile.a + r * tile.a_stride + 2 * pair));
      low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(b_low, x));
      high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(b_high, x));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    auto* to = reinterpret_cast<__m256i*>(tile.sums + r * kPanel);
    _mm256_storeu_si256(to, low[r]);
    _mm256_storeu_si256(to + 1, high[r]);
  }
}

template <int kRows>
__attribute__((target("avx512f,avx512bw"))) void multiply_avx512(const ByteTile& tile) {
  __m512i sums[kRows];
  for (int r = 0; r < kRows; ++r) sums[r] = _mm512_setzero_si512();
  const std::int8_t* b = tile.panel;
  for (std::int64_t pair = 0; pair < tile.pairs; ++pair, b += 2 * kPanel) {
    const __m512i wide =
        _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_set1_epi32(pair_at(tile.a + r * tile.a_stride + 2 * pair));
      sums[r] = _mm512_add_epi32(sums[r], _mm512_madd_epi16(wide, x));
    }
  }
  for (int r = 0; r < kRows; ++r) _mm512_storeu_si512(tile.sums + r * kPanel, sums[r]);
}

using ByteKernel = void (*)(const ByteTile&);
constexpr ByteKernel kAvx2[] = {multiply_avx2<1>, multiply_avx2<2>, multiply_avx2<3>,
                                multiply_avx2<4>, multiply_avx2<5>, multiply_avx2<6>};
constexpr ByteKernel kAvx512[] = {multiply_avx512<1>, multiply_avx512<2>, multiply_avx512<3>,
                                  multiply_avx512<4>, multiply_avx512<5>, multiply_avx512<6>};
#endif

void multiply(ByteLoop loop, std::int64_t rows, const ByteTile& tile) {
#if defined(__x86_64__)
  if (loop == ByteLoop::avx2) return kAvx2[rows - 1](tile);
  if (loop == ByteLoop::avx512) return kAvx512[rows - 1](tile);
#endif
  multiply_plain(rows, tile);
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

TANDEM_CLONES void to_floats(const std::int32_t* sums, float scale, const float* scales,
                             const float* bias, float* c, std::int64_t n) {
  if (bias == nullptr) {
    for (std::int64_t i = 0; i < n; ++i) c[i] = static_cast<float>(sums[i]) * (scale * scales[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      c[i] = static_cast<float>(sums[i]) * (scale * scales[i]) + bias[i];
    }
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
      scales_(static_cast<std::size_t>(columns)) {}

BytePanels BytePanels::of_turned(const float* matrix, std::int64_t depth, std::int64_t columns) {
  BytePanels panels(depth, columns);
  std::vector<std::int16_t> whole(static_cast<std::size_t>(depth));
  for (std::int64_t column = 0; column < columns; ++column) {
    panels.scales_[static_cast<std::size_t>(column)] =
        round_row(matrix + column * depth, depth, kMostWeight, whole.data());
    std::int8_t* to = panels.values_.data() + column / kPanel * kPanel * 2 * panels.pairs_ +
                      column % kPanel * 2;
    for (std::int64_t d = 0; d < depth; ++d) {
      to[d / 2 * 2 * kPanel + d % 2] =
          static_cast<std::int8_t>(whole[static_cast<std::size_t>(d)]);
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
  constexpr std::int64_t kPanelsABlock = 16;
  std::int32_t sums[kTileRows * kPanel];
  for (std::int64_t block = first; block < last; block += kPanelsABlock * kPanel) {
    const std::int64_t block_end = std::min(last, block + kPanelsABlock * kPanel);
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t count = std::min(kTileRows, rows - i);
      const std::int16_t* from = a.values.data() + (begin + i) * a.stride;
      for (std::int64_t column = block; column < block_end; column += kPanel) {
        multiply(loop_, count,
                 {from, a.stride, values_.data() + column * 2 * pairs_, pairs_, sums});
        for (std::int64_t r = 0; r < count; ++r) {
          to_floats(sums + r * kPanel, a.scales[static_cast<std::size_t>(begin + i + r)],
                    scales_.data() + column, bias == nullptr ? nullptr : bias + column,
                    c + (i + r) * stride + column - first, std::min(kPanel, block_end - column));
        }
      }
    }
  }
}

}  // namespace tandem::cpu
