#include "model/ops/attention_cpu.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "model/ops/cpu_mask.h"
#include "model/ops/cpu_rows.h"

namespace tandem::cpu {
namespace {

std::span<const std::int32_t> offsets_of(const Tensor& offsets) {
  return {offsets.const_data_ptr<std::int32_t>(), static_cast<std::size_t>(offsets.numel())};
}

// One head of one sentence.
struct Unit {
  std::int64_t head, column;  // column: where the head begins
  std::int64_t q_begin, k_begin, queries, keys;
  std::int64_t weights;  // offset of its [queries, keys] block

  Unit(const AttentionShape& shape, std::int64_t index)
      : head(index % shape.heads), column(head * shape.width) {
    const auto sentence = static_cast<std::size_t>(index / shape.heads);
    q_begin = shape.q_offsets[sentence];
    k_begin = shape.k_offsets[sentence];
    queries = shape.q_offsets[sentence + 1] - q_begin;
    keys = shape.k_offsets[sentence + 1] - k_begin;
    weights = shape.weight_offsets[sentence] + head * queries * keys;
  }
  std::int64_t visible(bool causal, std::int64_t query) const { return causal ? query + 1 : keys; }
};

// [keys, width] rows, strided, to [width, keys]: so that products over the width become sums of
// rows, which vectorise without reordering a sum.
void transpose(const float* rows, std::int64_t stride, std::int64_t keys, std::int64_t width,
               std::vector<float>& out) {
  out.resize(static_cast<std::size_t>(keys * width));
  for (std::int64_t j = 0; j < keys; ++j) {
    for (std::int64_t d = 0; d < width; ++d) {
      out[static_cast<std::size_t>(d * keys + j)] = rows[j * stride + d];
    }
  }
}

// Some ten thousand multiplications a task.
constexpr std::int64_t kUnitsATask = 8;

}  // namespace

AttentionShape::AttentionShape(const AttentionSpec& spec, std::int64_t head_width)
    : heads(spec.heads),
      width(head_width),
      causal(spec.causal),
      q_offsets(offsets_of(spec.query_offsets)),
      k_offsets(offsets_of(spec.key_offsets)),
      weight_offsets{0} {
  for (std::size_t i = 0; i + 1 < q_offsets.size(); ++i) {
    const std::int64_t queries = q_offsets[i + 1] - q_offsets[i];
    const std::int64_t keys = k_offsets[i + 1] - k_offsets[i];
    weight_offsets.push_back(weight_offsets.back() + heads * queries * keys);
  }
}

void attention_forward(const AttentionShape& shape, const QueryKeyValue<const float>& in,
                       const Dropout& drop, float* out, float* weights) {
  const Masks masks(drop);
  const std::int64_t width = shape.width, out_stride = shape.heads * width;
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> keys, query(static_cast<std::size_t>(width)), dropped;
    for (std::int64_t index = begin; index < end; ++index) {
      const Unit unit(shape, index);
      const std::int64_t kv_at = unit.k_begin * in.kv_stride + unit.column;
      transpose(in.k + kv_at, in.kv_stride, unit.keys, width, keys);
      dropped.resize(static_cast<std::size_t>(unit.keys));
      for (std::int64_t i = 0; i < unit.queries; ++i) {
        const std::int64_t row = unit.q_begin + i, n = unit.visible(shape.causal, i);
        const float* q = in.q + row * in.q_stride + unit.column;
        for (std::int64_t d = 0; d < width; ++d) query[static_cast<std::size_t>(d)] = q[d] * scale;
        float* p = weights + unit.weights + i * unit.keys;
        rows::times_matrix(p, query.data(), width, keys.data(), unit.keys, n);
        rows::softmax(p, n);
        const float* w = p;
        if (masks.active()) {
          rows::masked(dropped.data(), p, masks.row(row, static_cast<std::uint64_t>(unit.head)), n);
          w = dropped.data();
        }
        rows::times_matrix(out + row * out_stride + unit.column, w, n, in.v + kv_at, in.kv_stride,
                           width);
      }
    }
  };
  at::parallel_for(0, shape.sentences() * shape.heads, kUnitsATask, work);
}

void attention_backward(const AttentionShape& shape, const QueryKeyValue<const float>& in,
                        const Dropout& drop, const float* out_gradient, const float* weights,
                        const QueryKeyValue<float>& gradient) {
  const Masks masks(drop);
  const std::int64_t width = shape.width, out_stride = shape.heads * width;
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> values, dropped, ds;
    for (std::int64_t index = begin; index < end; ++index) {
      const Unit unit(shape, index);
      const std::int64_t kv_at = unit.k_begin * in.kv_stride + unit.column;
      const std::int64_t dkv_at = unit.k_begin * gradient.kv_stride + unit.column;
      transpose(in.v + kv_at, in.kv_stride, unit.keys, width, values);
      dropped.resize(static_cast<std::size_t>(unit.keys));
      ds.resize(static_cast<std::size_t>(unit.keys));
      for (std::int64_t i = 0; i < unit.queries; ++i) {
        const std::int64_t row = unit.q_begin + i, n = unit.visible(shape.causal, i);
        const float* q = in.q + row * in.q_stride + unit.column;
        const float* dout = out_gradient + row * out_stride + unit.column;
        const float* p = weights + unit.weights + i * unit.keys;
        rows::times_matrix(ds.data(), dout, width, values.data(), unit.keys, n);
        const float* w = p;
        if (masks.active()) {
          const rows::Mask mask = masks.row(row, static_cast<std::uint64_t>(unit.head));
          rows::masked(dropped.data(), p, mask, n);
          rows::masked(ds.data(), ds.data(), mask, n);
          w = dropped.data();
        }
        rows::softmax_backward(ds.data(), p, scale, n);
        rows::times_matrix(gradient.q + row * gradient.q_stride + unit.column, ds.data(), n,
                           in.k + kv_at, in.kv_stride, width);
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t at = dkv_at + j * gradient.kv_stride;
          rows::add_to(gradient.v + at, dout, w[j], width);
          rows::add_to(gradient.k + at, q, ds[static_cast<std::size_t>(j)], width);
        }
      }
    }
  };
  at::parallel_for(0, shape.sentences() * shape.heads, kUnitsATask, work);
}

void listed_attention(const float* q, const float* kv, std::span<const std::int32_t> places,
                      std::span<const std::int32_t> offsets, std::int64_t heads, std::int64_t width,
                      float* out) {
  const std::int64_t model = heads * width;
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  const auto rows_in = static_cast<std::int64_t>(offsets.size()) - 1;
  at::parallel_for(0, rows_in, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> weights;
    for (std::int64_t row = begin; row < end; ++row) {
      const auto from = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
      const auto to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]);
      const auto list = places.subspan(from, to - from);
      weights.resize(list.size());
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::int64_t column = head * width;
        for (std::size_t j = 0; j < list.size(); ++j) {
          const float* key = kv + list[j] * 2 * model + column;
          weights[j] = scale * rows::dot(q + row * model + column, key, width);
        }
        rows::softmax(weights.data(), static_cast<std::int64_t>(list.size()));
        float* sum = out + row * model + column;
        std::fill_n(sum, width, 0.0f);
        for (std::size_t j = 0; j < list.size(); ++j) {
          rows::add_to(sum, kv + list[j] * 2 * model + model + column, weights[j], width);
        }
      }
    }
  });
}

}  // namespace tandem::cpu
