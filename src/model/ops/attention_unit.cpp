#include "model/ops/attention_unit.h"

#include <algorithm>
#include <cmath>

#include "model/ops/cpu_softmax.h"
#include "model/ops/cpu_vector.h"

namespace tandem::cpu {
namespace {

using rows::kLanes;

// Element (row, depth) of the left factor: either order of a matrix, without copying it.
struct Left {
  const float* at;
  std::int64_t row, depth;  // strides
};

// kRows rows of 16 sums stay in registers for the whole depth.
template <int kRows>
TANDEM_INLINE void product_block(Left a, std::int64_t depth, const float* b, std::int64_t b_stride,
                                 float* c, std::int64_t c_stride) {
  Eight low[kRows] = {}, high[kRows] = {};
  for (std::int64_t d = 0; d < depth; ++d) {
    const Eight b_low = load(b + d * b_stride), b_high = load(b + d * b_stride + kEight);
    const float* x = a.at + d * a.depth;
    for (int r = 0; r < kRows; ++r) {
      const float value = x[r * a.row];
      low[r] += value * b_low;
      high[r] += value * b_high;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    store(c + r * c_stride, low[r]);
    store(c + r * c_stride + kEight, high[r]);
  }
}

// rows: 1 to kMost.
template <int kMost>
TANDEM_INLINE void product_rows(std::int64_t rows, Left a, std::int64_t depth, const float* b,
                                std::int64_t b_stride, float* c, std::int64_t c_stride) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return product_rows<kMost - 1>(rows, a, depth, b, b_stride, c, c_stride);
  }
  product_block<kMost>(a, depth, b, b_stride, c, c_stride);
}

// c [n, columns] = a [n, depth] times b [depth, columns].
TANDEM_INLINE void product(std::int64_t n, std::int64_t depth, std::int64_t columns, Left a,
                           RowsOf<const float> b, RowsOf<float> c) {
  constexpr int kMost = 6;
  std::int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) {
    for (std::int64_t i = 0; i < n; i += kMost) {
      product_rows<kMost>(std::min<std::int64_t>(kMost, n - i), {a.at + i * a.row, a.row, a.depth},
                          depth, b.at + column, b.stride, c.at + i * c.stride + column, c.stride);
    }
  }
  for (; column < columns; ++column) {  // heads of unusual width
    for (std::int64_t i = 0; i < n; ++i) {
      float sum = 0;
      for (std::int64_t d = 0; d < depth; ++d) {
        sum += a.at[i * a.row + d * a.depth] * b.at[d * b.stride + column];
      }
      c.at[i * c.stride + column] = sum;
    }
  }
}

// Up to eight rows of `width` to as many columns of out, filled up with columns of zeros to eight.
TANDEM_INLINE void turn_rows(RowsOf<const float> in, std::int64_t count, std::int64_t width,
                             std::int64_t stride, float* out) {
  std::int64_t d = 0;
  for (; d + kEight <= width; d += kEight) {
    if (count == kEight) {
      turn_block(in.at + d, in.stride, out + d * stride, stride);
      continue;
    }
    float block[kEight * kEight] = {};
    for (std::int64_t i = 0; i < count; ++i)
      store(block + i * kEight, load(in.at + i * in.stride + d));
    turn_block(block, kEight, out + d * stride, stride);
  }
  for (; d < width; ++d) {  // heads of unusual width
    for (std::int64_t i = 0; i < kEight; ++i) {
      out[d * stride + i] = i < count ? in.at[i * in.stride + d] : 0;
    }
  }
}

// [n, width] to [width, stride]: so that a product with it is one of rows. What lies behind column
// n is zero; stride is a multiple of eight.
TANDEM_INLINE void turn(RowsOf<const float> in, std::int64_t n, std::int64_t width,
                        std::int64_t stride, float* out) {
  for (std::int64_t j = 0; j < stride; j += kEight) {
    const std::int64_t count = std::clamp<std::int64_t>(n - j, 0, kEight);
    turn_rows({in.at + j * in.stride, in.stride}, count, width, stride, out + j);
  }
}

TANDEM_INLINE std::int64_t seen(const UnitShape& shape, std::int64_t query) {
  return shape.causal ? query + 1 : shape.keys;
}

}  // namespace

TANDEM_CLONES void attend(const UnitShape& shape, RowsOf<const float> q, RowsOf<const float> k,
                          RowsOf<const float> v, std::span<const rows::Mask> masks, float* weights,
                          RowsOf<float> out, UnitScratch& scratch) {
  const std::int64_t stride = padded(shape.keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.width));
  scratch.turned.resize(static_cast<std::size_t>(shape.width * stride));
  scratch.kept.resize(static_cast<std::size_t>(shape.queries * stride));
  turn(k, shape.keys, shape.width, stride, scratch.turned.data());
  product(shape.queries, shape.width, stride, {q.at, q.stride, 1}, {scratch.turned.data(), stride},
          {weights, stride});
  const float* kept = masks.empty() ? weights : scratch.kept.data();
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    float* row = weights + i * stride;
    softmax_padded(row, scale, seen(shape, i), stride);
    if (masks.empty()) continue;
    const rows::Mask mask = masks[static_cast<std::size_t>(i)];
    float* masked = scratch.kept.data() + i * stride;
    for (std::int64_t j = 0; j < stride; j += kLanes) {
      for (std::int64_t lane = j; lane < j + kLanes; ++lane) {
        masked[lane] = row[lane] * rows::factor(mask, lane);
      }
    }
  }
  product(shape.queries, shape.keys, shape.width, {kept, stride, 1}, v, out);
}

TANDEM_CLONES void attend_backward(const UnitShape& shape, const UnitInputs& in,
                                   std::span<const rows::Mask> masks, const float* weights,
                                   const UnitGradients& gradient, UnitScratch& scratch) {
  const std::int64_t stride = padded(shape.keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.width));
  scratch.turned.resize(static_cast<std::size_t>(shape.width * stride));
  scratch.kept.resize(static_cast<std::size_t>(shape.queries * stride));
  scratch.slopes.resize(static_cast<std::size_t>(shape.queries * stride));
  float* slopes = scratch.slopes.data();  // of the masked weights, then of the scores
  turn(in.v, shape.keys, shape.width, stride, scratch.turned.data());
  product(shape.queries, shape.width, stride, {in.out_gradient.at, in.out_gradient.stride, 1},
          {scratch.turned.data(), stride}, {slopes, stride});
  const float* kept = masks.empty() ? weights : scratch.kept.data();
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    const float* p = weights + i * stride;
    float* slope = slopes + i * stride;
    if (!masks.empty()) {
      const rows::Mask mask = masks[static_cast<std::size_t>(i)];
      float* masked = scratch.kept.data() + i * stride;
      for (std::int64_t j = 0; j < stride; j += kLanes) {
        for (std::int64_t lane = j; lane < j + kLanes; ++lane) {
          const float factor = rows::factor(mask, lane);
          masked[lane] = p[lane] * factor;
          slope[lane] *= factor;
        }
      }
    }
    Sixteen sum = {};
    for (std::int64_t j = 0; j < stride; j += kLanes) {
      sum += load_as<Sixteen>(p + j) * load_as<Sixteen>(slope + j);
    }
    const float mean = rows::sum_of_lanes(sum);
    for (std::int64_t j = 0; j < stride; j += kLanes) {
      for (std::int64_t lane = j; lane < j + kLanes; ++lane) {
        slope[lane] = p[lane] * (slope[lane] - mean) * scale;
      }
    }
  }
  product(shape.queries, shape.keys, shape.width, {slopes, stride, 1}, in.k, gradient.q);
  product(shape.keys, shape.queries, shape.width, {slopes, 1, stride}, in.q, gradient.k);
  product(shape.keys, shape.queries, shape.width, {kept, 1, stride}, in.out_gradient, gradient.v);
}

}  // namespace tandem::cpu
