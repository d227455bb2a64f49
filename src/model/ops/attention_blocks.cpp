#include "model/ops/attention_blocks.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "model/ops/attention_cpu.h"
#include "model/ops/cpu_product.h"
#include "model/ops/cpu_turned_product.h"
#include "model/ops/product_choice.h"

namespace tandem::cpu {
namespace {

constexpr std::int64_t kBlockRows = 192;    // a thread
constexpr std::int64_t kWidestBlock = 192;  // four matrices of this width take 590 KB
constexpr std::int64_t kTaskRows = 96,
                       kLineFloats = 16;  // kLineFloats: floats in a line of the cache

// An odd number of lines apart, rows use all of the nearest cache; an even one leaves most of it
// empty.
std::int64_t spread_stride(std::int64_t columns) {
  const std::int64_t lines = (columns + kLineFloats - 1) / kLineFloats;
  return (lines | 1) * kLineFloats;
}

RowsOf<const float> rows_in(const Tensor& x) {
  return {x.const_data_ptr<float>(), x.size(1)};
}
RowsOf<float> rows_to(Tensor& x) {
  return {x.mutable_data_ptr<float>(), x.size(1)};
}

// Whole sentences, and the rows of queries and keys that they are.
struct Block {
  struct Rows {
    std::int64_t first, last;
    std::int64_t count() const { return last - first; }
  };
  Sentences sentences;
  Rows queries, keys;

  // Those of input i of n: the first has the queries, the last the keys.
  const Rows& rows(std::size_t i) const { return i == 0 ? queries : keys; }
};

std::vector<Block> cut_into_blocks(const AttentionShape& shape) {
  const std::int64_t wanted = kBlockRows * at::get_num_threads();
  std::vector<Block> blocks;
  std::int64_t first = 0;
  for (std::int64_t last = 1; last <= shape.all().last; ++last) {
    const auto rows = [&](std::span<const std::int32_t> offsets) -> Block::Rows {
      return {offsets[static_cast<std::size_t>(first)], offsets[static_cast<std::size_t>(last)]};
    };
    const Block block{{first, last}, rows(shape.q_offsets), rows(shape.k_offsets)};
    if (last < shape.all().last && std::max(block.queries.count(), block.keys.count()) < wanted) {
      continue;
    }
    blocks.push_back(block);
    first = last;
  }
  return blocks;
}

std::int64_t most_rows(const std::vector<Block>& blocks, std::size_t input) {
  std::int64_t most = 0;
  for (const Block& block : blocks) most = std::max(most, block.rows(input).count());
  return most;
}

void multiply_rows_of(RowsOf<const float> a, std::int64_t count, const Panels& panels,
                      const Tensor& bias, RowsOf<float> c) {
  const float* shift = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
  at::parallel_for(0, count, kTaskRows, [&](std::int64_t begin, std::int64_t end) {
    panels.times(a.from(begin), end - begin, shift, c.from(begin));
  });
}

// weight [columns of a, columns of b] += transpose of a times b, of `count` rows.
void add_weight_gradient(Tensor& weight, RowsOf<const float> a, RowsOf<const float> b,
                         std::int64_t count) {
  const TurnedProduct product{.a = a,
                              .a_columns = weight.size(0),
                              .b = b,
                              .b_columns = weight.size(1),
                              .depth = count,
                              .c = weight.mutable_data_ptr<float>(),
                              .add = true};
  at::parallel_for(0, weight.size(0), kTaskRows, [&](std::int64_t begin, std::int64_t end) {
    turned_product(product, begin, end);
  });
}

TANDEM_CLONES void add_rows(float* sum, RowsOf<const float> rows, std::int64_t count,
                            std::int64_t columns) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float* row = rows.at + i * rows.stride;
    for (std::int64_t c = 0; c < columns; ++c) sum[c] += row[c];
  }
}

Panels turned_panels(const Tensor& weight) {
  return Panels::of_turned(weight.const_data_ptr<float>(), weight.size(1), weight.size(0));
}
Panels straight_panels(const Tensor& weight) {
  return Panels::of(weight.const_data_ptr<float>(), weight.size(0), weight.size(1));
}

template <class Float>
QueryKeyValue<Float> parts(const std::vector<RowsOf<Float>>& inputs, std::int64_t model) {
  Float* keys = inputs.size() == 1 ? inputs[0].at + model : inputs[1].at;
  return {inputs[0].at, keys, keys + model, inputs[0].stride, inputs.back().stride};
}

std::vector<RowsOf<const float>> all_rows_in(const std::vector<Tensor>& tensors) {
  std::vector<RowsOf<const float>> rows;
  for (const Tensor& x : tensors) rows.push_back(rows_in(x));
  return rows;
}

}  // namespace

bool has_attention_blocks(std::span<const AttentionInput> inputs, const Tensor& out_weight) {
  const auto fits = [](const Tensor& weight) {
    const std::int64_t rows = weight.size(0), columns = weight.size(1);
    return columns <= kWidestBlock && has_quick_product(columns, rows) &&
           has_quick_product(rows, columns) && has_quick_turned_product(rows, columns);
  };
  return fits(out_weight) && std::all_of(inputs.begin(), inputs.end(), [&](const auto& input) {
           return fits(input.weight) && input.x.size(0) >= kTaskRows;
         });
}

Tensor attention_blocks_forward(std::span<const AttentionInput> inputs, const Tensor& out_weight,
                                const AttentionSpec& spec, AttentionKept& kept) {
  const std::int64_t count = inputs[0].x.size(0), model = out_weight.size(1);
  const AttentionShape shape(spec, model / spec.heads);
  const auto options = inputs[0].x.options();
  std::vector<Panels> before;
  for (const AttentionInput& input : inputs) {
    before.push_back(turned_panels(input.weight));
    kept.projected.push_back(
        at::empty({input.x.size(0), spread_stride(input.weight.size(0))}, options));
  }
  kept.weights = at::empty({shape.weight_offsets.back()}, options);
  kept.mixed = at::empty({count, model}, options);
  Tensor out = at::empty({count, out_weight.size(0)}, options);
  const Panels behind = turned_panels(out_weight);
  const RowsOf<float> mixed = rows_to(kept.mixed);
  const auto qkv = parts(all_rows_in(kept.projected), model);
  for (const Block& block : cut_into_blocks(shape)) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Block::Rows& rows = block.rows(i);
      multiply_rows_of(rows_in(inputs[i].x).from(rows.first), rows.count(), before[i],
                       inputs[i].bias, rows_to(kept.projected[i]).from(rows.first));
    }
    attention_forward(shape, block.sentences, qkv, spec.drop, mixed,
                      kept.weights.mutable_data_ptr<float>());
    multiply_rows_of(rows_in(kept.mixed).from(block.queries.first), block.queries.count(), behind,
                     {}, rows_to(out).from(block.queries.first));
  }
  return out;
}

AttentionGradients attention_blocks_backward(std::span<const AttentionInput> inputs,
                                             const Tensor& out_weight, const AttentionSpec& spec,
                                             const AttentionKept& kept, const Tensor& gradient) {
  const std::int64_t model = out_weight.size(1);
  const AttentionShape shape(spec, model / spec.heads);
  const auto options = gradient.options();
  const std::vector<Block> blocks = cut_into_blocks(shape);
  AttentionGradients result;
  result.out_weight = at::zeros_like(out_weight);
  std::vector<Panels> before;
  std::vector<Tensor> scratch;  // gradients of a block's queries, keys and values
  std::vector<RowsOf<float>> of_projected;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const AttentionInput& input = inputs[i];
    before.push_back(straight_panels(input.weight));
    scratch.push_back(
        at::empty({most_rows(blocks, i), spread_stride(input.weight.size(0))}, options));
    of_projected.push_back(rows_to(scratch.back()));
    result.inputs.push_back(
        {at::empty_like(input.x), at::zeros_like(input.weight), at::zeros_like(input.bias)});
  }
  const Panels behind = straight_panels(out_weight);
  Tensor of_mixed = at::empty({most_rows(blocks, 0), spread_stride(model)}, options);
  const auto qkv = parts(all_rows_in(kept.projected), model);
  for (const Block& block : blocks) {
    const auto own = rows_in(gradient).from(block.queries.first);
    multiply_rows_of(own, block.queries.count(), behind, {}, rows_to(of_mixed));
    add_weight_gradient(result.out_weight, own, rows_in(kept.mixed).from(block.queries.first),
                        block.queries.count());
    attention_backward(shape, block.sentences, qkv, spec.drop, rows_in(of_mixed),
                       kept.weights.const_data_ptr<float>(), parts(of_projected, model));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Block::Rows& rows = block.rows(i);
      const auto slopes = rows_in(scratch[i]);
      AttentionInput& to = result.inputs[i];
      multiply_rows_of(slopes, rows.count(), before[i], {}, rows_to(to.x).from(rows.first));
      add_weight_gradient(to.weight, slopes, rows_in(inputs[i].x).from(rows.first), rows.count());
      add_rows(to.bias.mutable_data_ptr<float>(), slopes, rows.count(), to.bias.size(0));
    }
  }
  return result;
}

}  // namespace tandem::cpu
