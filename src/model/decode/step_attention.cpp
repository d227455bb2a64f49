#include "model/decode/step_attention.h"

#include <algorithm>
#include <cmath>

#include "model/ops/cpu_softmax.h"
#include "model/ops/cpu_tile.h"

namespace tandem::cpu {
namespace {

// Products of a query with eight keys.
TANDEM_INLINE Eight dots_of_eight(const float* query, const float* const* keys, std::int64_t column,
                                  std::int64_t width) {
  const std::int64_t whole = width - width % kEight;
  Eight parts[8] = {};
  for (std::int64_t d = column; d < column + whole; d += kEight) {
    const Eight x = load(query + d);
    for (int i = 0; i < 8; ++i) parts[i] += x * load(keys[i] + d);
  }
  Eight dots = sums_of(parts);
  for (std::int64_t d = column + whole; d < column + width; ++d) {
    for (int i = 0; i < 8; ++i) dots[i] += query[d] * keys[i][d];
  }
  return dots;
}

// out[d] = sum over keys of weight * value[d], for kVectors * 8 columns.
template <int kVectors>
TANDEM_INLINE void weigh_values(const float* weights, const float* values,
                                std::span<const std::int32_t> places, std::int64_t row,
                                float* out) {
  Eight sums[kVectors] = {};
  for (std::size_t j = 0; j < places.size(); ++j) {
    const float* value = values + places[j] * row;
    for (int i = 0; i < kVectors; ++i) sums[i] += weights[j] * load(value + i * kEight);
  }
  for (int i = 0; i < kVectors; ++i) store(out + i * kEight, sums[i]);
}

}  // namespace

TANDEM_CLONES void attend_listed(HeadShape shape, const float* q, const float* kv,
                                 std::span<const std::int32_t> places, float* out,
                                 std::vector<float>& scratch) {
  const auto [heads, width] = shape;
  const std::int64_t model = heads * width, row = 2 * model;
  const auto keys = static_cast<std::int64_t>(places.size());
  const std::int64_t stride = padded(keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  scratch.resize(static_cast<std::size_t>(heads * stride));
  float* weights = scratch.data();
  for (std::int64_t j = 0; j < keys; j += kEight) {
    const float* eight[8];  // behind the last key: some key, whose score softmax drops
    for (std::int64_t i = 0; i < kEight; ++i) {
      eight[i] = kv + places[static_cast<std::size_t>(std::min(j + i, keys - 1))] * row;
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      store(weights + head * stride + j, dots_of_eight(q, eight, head * width, width));
    }
  }
  for (std::int64_t head = 0; head < heads; ++head, weights += stride) {
    softmax_padded(weights, scale, keys, stride);
    std::int64_t d = head * width;
    const std::int64_t end = d + width;
    for (; d + 4 * kEight <= end; d += 4 * kEight) {
      weigh_values<4>(weights, kv + model + d, places, row, out + d);
    }
    for (; d + kEight <= end; d += kEight) {
      weigh_values<1>(weights, kv + model + d, places, row, out + d);
    }
    for (; d < end; ++d) {
      out[d] = 0;
      for (std::size_t j = 0; j < places.size(); ++j) {
        out[d] += weights[j] * kv[places[j] * row + model + d];
      }
    }
  }
}

std::int64_t source_floats(HeadShape shape, std::int64_t keys) {
  return shape.heads * (padded(keys) * shape.width + padded(shape.width) * keys);
}

void pack_source(HeadShape shape, const float* kv, std::int64_t keys, float* panels) {
  const auto [heads, width] = shape;
  const std::int64_t model = heads * width, row = 2 * model;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t key = 0; key < keys; ++key) {
      const float* from = kv + key * row + head * width;
      float* panel = panels + key / kPanel * kPanel * width + key % kPanel;
      for (std::int64_t d = 0; d < width; ++d) panel[d * kPanel] = from[d];
    }
    panels += padded(keys) * width;
    for (std::int64_t key = 0; key < keys; ++key) {
      const float* from = kv + key * row + model + head * width;
      for (std::int64_t d = 0; d < width; d += kPanel) {
        std::copy_n(from + d, std::min(kPanel, width - d), panels + d * keys + key * kPanel);
      }
    }
    panels += padded(width) * keys;
  }
}

TANDEM_CLONES void attend_source(HeadShape shape, const float* q, std::int64_t rows,
                                 const float* panels, std::int64_t keys, float* out,
                                 std::vector<float>& scratch) {
  const auto [heads, width] = shape;
  const std::int64_t model = heads * width, stride = padded(keys);
  const std::int64_t whole = width - width % kPanel;
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  scratch.resize(static_cast<std::size_t>(kTileRows * stride));
  float* weights = scratch.data();
  float rest[kTileRows * kPanel];
  for (std::int64_t head = 0; head < heads; ++head) {
    const float* values = panels + stride * width;
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t count = std::min<std::int64_t>(kTileRows, rows - i);
      const float* query = q + i * model + head * width;
      for (std::int64_t j = 0; j < stride; j += kPanel) {
        multiply_tile(
            count, {query, model, panels + j * width, width, weights + j, stride, nullptr, false});
      }
      for (std::int64_t r = 0; r < count; ++r) {
        softmax_padded(weights + r * stride, scale, keys, stride);
      }
      float* to = out + i * model + head * width;
      for (std::int64_t d = 0; d < whole; d += kPanel) {
        multiply_tile(count,
                      {weights, stride, values + d * keys, keys, to + d, model, nullptr, false});
      }
      if (whole == width) continue;
      multiply_tile(count,
                    {weights, stride, values + whole * keys, keys, rest, kPanel, nullptr, false});
      for (std::int64_t r = 0; r < count; ++r) {
        std::copy_n(rest + r * kPanel, width - whole, to + r * model + whole);
      }
    }
    panels = values + padded(width) * keys;
  }
}

}  // namespace tandem::cpu
