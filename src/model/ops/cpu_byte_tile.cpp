#include "model/ops/cpu_byte_tile.h"

#include <cstring>
#include <utility>

#include "model/ops/cpu_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem::cpu {
namespace {

template <int kRows>
void multiply_plain(const ByteTile& tile) {
  const auto* a = static_cast<const char*>(tile.a);
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t i = 0; i < kPanel; ++i) {
      std::int32_t sum = 0;
      for (std::int64_t d = 0; d < 2 * tile.steps; ++d) {
        std::int16_t value;
        std::memcpy(&value, a + r * tile.a_stride + 2 * d, sizeof value);
        sum += value * tile.panel[d / 2 * 2 * kPanel + 2 * i + d % 2];
      }
      tile.c[r * tile.c_stride + i] =
          static_cast<float>(sum) * (tile.a_scales[r] * tile.scales[i]) + tile.bias[i];
    }
  }
}

#if defined(__x86_64__)
// The numbers of one row that a step takes: 32 bits.
TANDEM_INLINE std::int32_t group_at(const char* a) {
  std::int32_t group;
  std::memcpy(&group, a, sizeof group);
  return group;
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
  const auto* a = static_cast<const char*>(tile.a);
  for (std::int64_t step = 0; step < tile.steps; ++step, a += 4, b += 2 * kPanel) {
    const auto* from = reinterpret_cast<const __m128i*>(b);
    const __m256i b_low = _mm256_cvtepi8_epi16(_mm_loadu_si128(from));
    const __m256i b_high = _mm256_cvtepi8_epi16(_mm_loadu_si128(from + 1));
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256i x = _mm256_set1_epi32(group_at(a + r * tile.a_stride));
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

using WholeSixteen = std::int32_t __attribute__((vector_size(64)));

template <int kRows, int kPanels>
__attribute__((target("avx512f,avx512bw"))) void multiply_avx512(const ByteTile& tile) {
  WholeSixteen sums[kRows][kPanels] = {};
  const std::int8_t* b = tile.panel;
  const auto* a = static_cast<const char*>(tile.a);
  for (std::int64_t step = 0; step < tile.steps; ++step, a += 4, b += 2 * kPanel) {
    __m512i wide[kPanels];
#pragma GCC unroll 2
    for (int i = 0; i < kPanels; ++i) {
      wide[i] = _mm512_cvtepi8_epi16(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i * tile.panel_stride)));
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_set1_epi32(group_at(a + r * tile.a_stride));
#pragma GCC unroll 2
      for (int i = 0; i < kPanels; ++i) {
        sums[r][i] += reinterpret_cast<WholeSixteen>(_mm512_madd_epi16(wide[i], x));
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int i = 0; i < kPanels; ++i) store_scaled<Sixteen>(sums[r][i], tile, r, i * kPanel);
  }
}

// By hand: of the functions that stand for these instructions the compiler copies the sums to and
// fro, twice a product.
TANDEM_INLINE void add_products_of_words(WholeSixteen& sums, WholeSixteen a, WholeSixteen b) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
}
TANDEM_INLINE void add_products_of_bytes(WholeSixteen& sums, WholeSixteen a, WholeSixteen b) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
}

template <int kRows, int kPanels>
__attribute__((target("avx512f,avx512bw,avx512vnni"))) void multiply_words(const ByteTile& tile) {
  WholeSixteen sums[kRows][kPanels] = {};
  const std::int8_t* b = tile.panel;
  const auto* a = static_cast<const char*>(tile.a);
  for (std::int64_t step = 0; step < tile.steps; ++step, a += 4, b += 2 * kPanel) {
    WholeSixteen wide[kPanels];
#pragma GCC unroll 2
    for (int i = 0; i < kPanels; ++i) {
      wide[i] = reinterpret_cast<WholeSixteen>(_mm512_cvtepi8_epi16(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i * tile.panel_stride))));
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const WholeSixteen x = WholeSixteen{} + group_at(a + r * tile.a_stride);
#pragma GCC unroll 2
      for (int i = 0; i < kPanels; ++i) add_products_of_words(sums[r][i], wide[i], x);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int i = 0; i < kPanels; ++i) store_scaled<Sixteen>(sums[r][i], tile, r, i * kPanel);
  }
}

template <int kRows, int kPanels>
__attribute__((target("avx512f,avx512bw,avx512vnni"))) void multiply_bytes(const ByteTile& tile) {
  WholeSixteen sums[kRows][kPanels] = {};
  const std::int8_t* b = tile.panel;
  const auto* a = static_cast<const char*>(tile.a);
  for (std::int64_t step = 0; step < tile.steps; ++step, a += 4, b += 4 * kPanel) {
    WholeSixteen column[kPanels];
#pragma GCC unroll 2
    for (int i = 0; i < kPanels; ++i) {
      std::memcpy(&column[i], b + i * tile.panel_stride, sizeof column[i]);
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const WholeSixteen x = WholeSixteen{} + group_at(a + r * tile.a_stride);
#pragma GCC unroll 2
      for (int i = 0; i < kPanels; ++i) add_products_of_bytes(sums[r][i], x, column[i]);
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < kPanels; ++i) {
    WholeSixteen of_column;
    std::memcpy(&of_column, tile.sums + i * kPanel, sizeof of_column);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      store_scaled<Sixteen>(sums[r][i] - tile.a_zeros[r] * of_column, tile, r, i * kPanel);
    }
  }
}

template <int... kRows>
ByteKernel wide_kernel(ByteLoop loop, ByteForm form, ByteTileSize size,
                       std::integer_sequence<int, kRows...>) {
  static constexpr ByteKernel kAvx512[][kWideRows] = {{multiply_avx512<kRows + 1, 1>...},
                                                      {multiply_avx512<kRows + 1, 2>...}};
  static constexpr ByteKernel kWords[][kWideRows] = {{multiply_words<kRows + 1, 1>...},
                                                     {multiply_words<kRows + 1, 2>...}};
  static constexpr ByteKernel kBytes[][kWideRows] = {{multiply_bytes<kRows + 1, 1>...},
                                                     {multiply_bytes<kRows + 1, 2>...}};
  const auto& kernels = form == ByteForm::bytes  ? kBytes
                        : loop == ByteLoop::vnni ? kWords
                                                 : kAvx512;
  return kernels[size.panels - 1][size.rows - 1];
}
#endif

template <int... kRows>
ByteKernel narrow_kernel([[maybe_unused]] ByteLoop loop, std::int64_t rows,
                         std::integer_sequence<int, kRows...>) {
#if defined(__x86_64__)
  static constexpr ByteKernel kAvx2[] = {multiply_avx2<kRows + 1>...};
  if (loop == ByteLoop::avx2) return kAvx2[rows - 1];
#endif
  static constexpr ByteKernel kPlain[] = {multiply_plain<kRows + 1>...};
  return kPlain[rows - 1];
}

bool is_wide(ByteLoop loop) {
  return loop == ByteLoop::avx512 || loop == ByteLoop::vnni;
}

}  // namespace

ByteLoop quickest_byte_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw")) {
    return __builtin_cpu_supports("avx512vnni") ? ByteLoop::vnni : ByteLoop::avx512;
  }
  if (__builtin_cpu_supports("avx2")) return ByteLoop::avx2;
#endif
  return ByteLoop::plain;
}

ByteTileSize byte_tile_size(ByteLoop loop) {
  return is_wide(loop) ? ByteTileSize{kWideRows, 2} : ByteTileSize{kTileRows, 1};
}

ByteKernel byte_kernel(ByteLoop loop, [[maybe_unused]] ByteForm form, ByteTileSize size) {
#if defined(__x86_64__)
  if (is_wide(loop)) {
    return wide_kernel(loop, form, size, std::make_integer_sequence<int, kWideRows>());
  }
#endif
  return narrow_kernel(loop, size.rows, std::make_integer_sequence<int, kTileRows>());
}

}  // namespace tandem::cpu
