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

// c [n, columns] = a [n, depth] times b [depth, columns].
TANDEM_INLINE void product(std::int64_t n, std::int64_t depth, std::int64_t columns, Left a,
                           RowsOf<const float> b, RowsOf<float> c) {
  std::int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) {
    std::int64_t i = 0;
    const float* from = b.at + column;
    float* to = c.at + column;
    for (; i + 6 <= n; i += 6) {
      product_block<6>({a.at + i * a.row, a.row, a.depth}, depth, from, b.stride, to + i * c.stride,
                       c.stride);
    }
    for (; i + 2 <= n; i += 2) {
      product_block<2>({a.at + i * a.row, a.row, a.depth}, depth, from, b.stride, to + i * c.stride,
                       c.stride);
    }
    if (i < n) {
      product_block<1>({a.at + i * a.row, a.row, a.depth}, depth, from, b.stride, to + i * c.stride,
                       c.stride);
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
  scratch.scores.resize(static_cast<std::size_t>(shape.queries * stride));
  float* turned = scratch.turned.data();
  float* scores = scratch.scores.data();
  turn(k, shape.keys, shape.width, stride, turned);
  product(shape.queries, shape.width, stride, {q.at, q.stride, 1}, {turned, stride},
          {scores, stride});
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    float* row = scores + i * stride;
    softmax_padded(row, scale, seen(shape, i), stride);
    std::memcpy(weights + i * shape.keys, row, static_cast<std::size_t>(shape.keys) * sizeof *row);
    if (masks.empty()) continue;
    const rows::Mask mask = masks[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < stride; ++j) row[j] *= rows::factor(mask, j);
  }
  product(shape.queries, shape.keys, shape.width, {scores, stride, 1}, v, out);
}

TANDEM_CLONES void attend_backward(const UnitShape& shape, const UnitInputs& in,
                                   std::span<const rows::Mask> masks, const float* weights,
                                   const UnitGradients& gradient, UnitScratch& scratch) {
  const std::int64_t stride = padded(shape.keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.width));
  scratch.turned.resize(static_cast<std::size_t>(shape.width * stride));
  scratch.scores.resize(static_cast<std::size_t>(shape.queries * stride));
  scratch.weights.assign(static_cast<std::size_t>(stride), 0.0f);
  scratch.grown.resize(static_cast<std::size_t>(shape.queries * stride));
  float* turned = scratch.turned.data();
  float* slopes = scratch.scores.data();  // of the masked weights, then of the scores
  float* p = scratch.weights.data();
  float* kept = scratch.grown.data();  // masked weights
  turn(in.v, shape.keys, shape.width, stride, turned);
  product(shape.queries, shape.width, stride, {in.out_gradient.at, in.out_gradient.stride, 1},
          {turned, stride}, {slopes, stride});
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    float* slope = slopes + i * stride;
    float* masked = kept + i * stride;
    std::memcpy(p, weights + i * shape.keys, static_cast<std::size_t>(shape.keys) * sizeof *p);
    if (masks.empty()) {
      for (std::int64_t j = 0; j < stride; ++j) masked[j] = p[j];
    } else {
      const rows::Mask mask = masks[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < stride; ++j) {
        const float factor = rows::factor(mask, j);
        masked[j] = p[j] * factor;
        slope[j] *= factor;
      }
    }
    float lanes[kLanes] = {};
    for (std::int64_t j = 0; j < stride; j += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] += p[j + lane] * slope[j + lane];
      }
    }
    const float mean = rows::sum_of_lanes(lanes);
    for (std::int64_t j = 0; j < stride; ++j) slope[j] = p[j] * (slope[j] - mean) * scale;
  }
  product(shape.queries, shape.keys, shape.width, {slopes, stride, 1}, in.k, gradient.q);
  product(shape.keys, shape.queries, shape.width, {slopes, 1, stride}, in.q, gradient.k);
  product(shape.keys, shape.queries, shape.width, {kept, 1, stride}, in.out_gradient, gradient.v);
}

}  // namespace tandem::cpu
