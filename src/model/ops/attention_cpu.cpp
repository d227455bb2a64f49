#include "model/ops/attention_cpu.h"

#include <ATen/Parallel.h>

#include "model/ops/attention_unit.h"
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
  std::int64_t weights;  // offset of its [queries, padded keys] block

  Unit(const AttentionShape& shape, std::int64_t index)
      : head(index % shape.heads), column(head * shape.width) {
    const auto sentence = static_cast<std::size_t>(index / shape.heads);
    q_begin = shape.q_offsets[sentence];
    k_begin = shape.k_offsets[sentence];
    queries = shape.q_offsets[sentence + 1] - q_begin;
    keys = shape.k_offsets[sentence + 1] - k_begin;
    weights = shape.weight_offsets[sentence] + head * queries * rows::padded(keys);
  }
};

// The dropout masks of a unit's queries; none without dropout.
std::span<const rows::Mask> masks_of(const Unit& unit, const Masks& masks,
                                     std::vector<rows::Mask>& memory) {
  memory.clear();
  if (!masks.active()) return {};
  for (std::int64_t i = 0; i < unit.queries; ++i) {
    memory.push_back(masks.row(unit.q_begin + i, static_cast<std::uint64_t>(unit.head)));
  }
  return memory;
}

// Asks for rows that the same head of the next sentence needs. Heads lie side by side, so no
// processor sees by itself that whole rows are read in the end.
void fetch_rows(const float* at, std::int64_t stride, std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kLine = 16;
  constexpr int kToRead = 0, kSecondCache = 2;
  for (std::int64_t i = 0; i < count; ++i, at += stride) {
    for (std::int64_t c = 0; c < width; c += kLine) {
      __builtin_prefetch(at + c, kToRead, kSecondCache);
    }
  }
}

// q_first and k_first: rows of queries and keys that lie before the first one.
template <class Float>
void fetch(const QueryKeyValue<Float>& rows, const Unit& unit, std::int64_t width,
           std::int64_t q_first = 0, std::int64_t k_first = 0) {
  const std::int64_t kv_at = (unit.k_begin - k_first) * rows.kv_stride + unit.column;
  const std::int64_t q_at = (unit.q_begin - q_first) * rows.q_stride + unit.column;
  fetch_rows(rows.k + kv_at, rows.kv_stride, unit.keys, width);
  fetch_rows(rows.v + kv_at, rows.kv_stride, unit.keys, width);
  fetch_rows(rows.q + q_at, rows.q_stride, unit.queries, width);
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
    weight_offsets.push_back(weight_offsets.back() + heads * queries * rows::padded(keys));
  }
}

void attention_forward(const AttentionShape& shape, Sentences sentences,
                       const QueryKeyValue<const float>& in, const Dropout& drop, RowsOf<float> out,
                       float* weights) {
  const Masks masks(drop);
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    UnitScratch scratch;
    std::vector<rows::Mask> memory;
    for (std::int64_t index = begin; index < end; ++index) {
      const Unit unit(shape, index);
      const std::int64_t q_at = unit.q_begin * in.q_stride + unit.column;
      const std::int64_t kv_at = unit.k_begin * in.kv_stride + unit.column;
      if (index + shape.heads < end) fetch(in, Unit(shape, index + shape.heads), shape.width);
      attend({unit.queries, unit.keys, shape.width, shape.causal}, {in.q + q_at, in.q_stride},
             {in.k + kv_at, in.kv_stride}, {in.v + kv_at, in.kv_stride},
             masks_of(unit, masks, memory), weights + unit.weights,
             {out.from(unit.q_begin).at + unit.column, out.stride}, scratch);
    }
  };
  at::parallel_for(sentences.first * shape.heads, sentences.last * shape.heads, kUnitsATask, work);
}

void attention_backward(const AttentionShape& shape, Sentences sentences,
                        const QueryKeyValue<const float>& in, const Dropout& drop,
                        RowsOf<const float> out_gradient, const float* weights,
                        const QueryKeyValue<float>& gradient) {
  const Masks masks(drop);
  const auto first = static_cast<std::size_t>(sentences.first);
  const std::int64_t q_first = shape.q_offsets[first], k_first = shape.k_offsets[first];
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    UnitScratch scratch;
    std::vector<rows::Mask> memory;
    for (std::int64_t index = begin; index < end; ++index) {
      const Unit unit(shape, index);
      const std::int64_t q_row = unit.q_begin - q_first, k_row = unit.k_begin - k_first;
      const std::int64_t q_at = unit.q_begin * in.q_stride + unit.column;
      const std::int64_t kv_at = unit.k_begin * in.kv_stride + unit.column;
      const std::int64_t to_q = q_row * gradient.q_stride + unit.column;
      const std::int64_t to_kv = k_row * gradient.kv_stride + unit.column;
      const UnitInputs inputs{{in.q + q_at, in.q_stride},
                              {in.k + kv_at, in.kv_stride},
                              {in.v + kv_at, in.kv_stride},
                              {out_gradient.from(q_row).at + unit.column, out_gradient.stride}};
      const UnitGradients gradients{{gradient.q + to_q, gradient.q_stride},
                                    {gradient.k + to_kv, gradient.kv_stride},
                                    {gradient.v + to_kv, gradient.kv_stride}};
      if (index + shape.heads < end) {
        const Unit next(shape, index + shape.heads);
        const std::int64_t stride = rows::padded(next.keys);
        fetch(in, next, shape.width);
        fetch_rows(out_gradient.from(next.q_begin - q_first).at + next.column, out_gradient.stride,
                   next.queries, shape.width);
        fetch_rows(weights + next.weights, stride, next.queries, stride);
        fetch(gradient, next, shape.width, q_first, k_first);
      }
      attend_backward({unit.queries, unit.keys, shape.width, shape.causal}, inputs,
                      masks_of(unit, masks, memory), weights + unit.weights, gradients, scratch);
    }
  };
  at::parallel_for(sentences.first * shape.heads, sentences.last * shape.heads, kUnitsATask, work);
}

}  // namespace tandem::cpu
