#include "model/ops/attention_blocks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>

#include "model/ops/attention_cpu.h"
#include "model/ops/cpu_product.h"
#include "model/ops/cpu_rows.h"
#include "model/ops/cpu_turned_product.h"
#include "model/ops/product_choice.h"

namespace tandem::cpu {
namespace {

constexpr std::int64_t kLeastBlockRows = 48, kBlockRows = 192, kRowsWorthBlocks = 96;
constexpr std::int64_t kWidestBlock = 192;  // four matrices of this width take 590 KB
constexpr std::int64_t kLineFloats = 16;    // in a line of the cache

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

  // Of input i: the first has the queries.
  const Rows& rows(std::size_t i) const { return i == 0 ? queries : keys; }
  std::int64_t most() const { return std::max(queries.count(), keys.count()); }
};

Block block_of(const AttentionShape& shape, Sentences sentences) {
  const auto rows = [&](std::span<const std::int32_t> offsets) -> Block::Rows {
    return {offsets[static_cast<std::size_t>(sentences.first)],
            offsets[static_cast<std::size_t>(sentences.last)]};
  };
  return {sentences, rows(shape.q_offsets), rows(shape.k_offsets)};
}

// Several blocks a thread, so that all have about as much to do.
std::vector<Block> cut_into_blocks(const AttentionShape& shape) {
  const Sentences all = shape.all();
  const std::int64_t even = block_of(shape, all).most() / (4 * at::get_num_threads());
  const std::int64_t wanted = std::clamp(even, kLeastBlockRows, kBlockRows);
  std::vector<Block> blocks;
  std::int64_t first = all.first;
  for (std::int64_t last = first + 1; last <= all.last; ++last) {
    const Block block = block_of(shape, {first, last});
    if (last < all.last && block.most() < wanted) continue;
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

// By several threads, each with blocks of its own.
template <class Work>
void for_each_block(const std::vector<Block>& blocks, const Work& work) {
  at::parallel_for(0, static_cast<std::int64_t>(blocks.size()), 1,
                   [&](std::int64_t begin, auto end) {
                     for (std::int64_t i = begin; i < end; ++i)
                       work(blocks[static_cast<std::size_t>(i)]);
                   });
}

// weight [columns of a, columns of b] += transpose of a times b, of `count` rows.
void add_weight_gradient(Tensor& weight, RowsOf<const float> a, RowsOf<const float> b,
                         std::int64_t count) {
  turned_product({.a = a,
                  .a_columns = weight.size(0),
                  .b = b,
                  .b_columns = weight.size(1),
                  .depth = count,
                  .c = weight.mutable_data_ptr<float>(),
                  .add = true});
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
    return weight.is_contiguous() && columns <= kWidestBlock && has_quick_product(columns, rows) &&
           has_quick_product(rows, columns) && has_quick_turned_product(rows, columns);
  };
  return fits(out_weight) && std::all_of(inputs.begin(), inputs.end(), [&](const auto& input) {
           return fits(input.weight) && input.x.size(0) >= kRowsWorthBlocks;
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
  const RowsOf<float> result = rows_to(out);
  float* weights = kept.weights.mutable_data_ptr<float>();
  std::vector<RowsOf<float>> projected;
  for (Tensor& x : kept.projected) projected.push_back(rows_to(x));
  const auto qkv = parts(all_rows_in(kept.projected), model);
  const float* out_bias = nullptr;  // what follows adds it
  const std::vector<Block> blocks = cut_into_blocks(shape);
  for_each_block(blocks, [&](const Block& block) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto [first, last] = block.rows(i);
      before[i].times(rows_in(inputs[i].x).from(first), last - first,
                      inputs[i].bias.const_data_ptr<float>(), projected[i].from(first));
    }
    attention_forward(shape, block.sentences, qkv, spec.drop, mixed, weights);
    const auto [first, last] = block.queries;
    behind.times(rows_in(kept.mixed).from(first), last - first, out_bias, result.from(first));
  });
  return out;
}

AttentionGradients attention_blocks_backward(std::span<const AttentionInput> inputs,
                                             const Tensor& out_weight, const AttentionSpec& spec,
                                             const AttentionKept& kept, const Tensor& gradient) {
  const std::int64_t model = out_weight.size(1);
  const AttentionShape shape(spec, model / spec.heads);
  const std::vector<Block> blocks = cut_into_blocks(shape);
  const Block whole = block_of(shape, shape.all());
  const bool alone = at::get_num_threads() == 1;
  // Gradients of queries, keys and values: of one block, or of all where threads have several.
  std::vector<Tensor> slopes;
  std::vector<Panels> before;
  AttentionGradients result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const AttentionInput& input = inputs[i];
    const std::int64_t rows = alone ? most_rows(blocks, i) : whole.rows(i).count();
    slopes.push_back(at::empty({rows, spread_stride(input.weight.size(0))}, gradient.options()));
    before.push_back(straight_panels(input.weight));
    result.inputs.push_back(
        {at::empty_like(input.x), at::zeros_like(input.weight), at::zeros_like(input.bias)});
  }
  result.out_weight = at::zeros_like(out_weight);
  const Panels behind = straight_panels(out_weight);
  const auto qkv = parts(all_rows_in(kept.projected), model);
  const auto rows_before = [&](const Block& block, std::size_t i) {
    return alone ? 0 : block.rows(i).first;
  };

  const auto go_through_rows = [&](const Block& block) {
    const auto [q_first, q_last] = block.queries;
    const std::int64_t stride = spread_stride(model);
    const auto of_mixed = std::make_unique_for_overwrite<float[]>(
        static_cast<std::size_t>(stride * (q_last - q_first)));
    behind.times(rows_in(gradient).from(q_first), q_last - q_first, nullptr,
                 {of_mixed.get(), stride});
    std::vector<RowsOf<float>> own;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      own.push_back(rows_to(slopes[i]).from(rows_before(block, i)));
    }
    attention_backward(shape, block.sentences, qkv, spec.drop, {of_mixed.get(), stride},
                       kept.weights.const_data_ptr<float>(), parts(own, model));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto [first, last] = block.rows(i);
      before[i].times({own[i].at, own[i].stride}, last - first, nullptr,
                      rows_to(result.inputs[i].x).from(first));
    }
  };
  const auto add_to_weights = [&](const Block& block) {
    const auto [q_first, q_last] = block.queries;
    add_weight_gradient(result.out_weight, rows_in(gradient).from(q_first),
                        rows_in(kept.mixed).from(q_first), q_last - q_first);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto [first, last] = block.rows(i);
      const auto own = rows_in(slopes[i]).from(rows_before(block, i));
      AttentionInput& to = result.inputs[i];
      add_weight_gradient(to.weight, own, rows_in(inputs[i].x).from(first), last - first);
      rows::add_rows(to.bias.mutable_data_ptr<float>(), own.at, own.stride, last - first,
                     to.bias.size(0));
    }
  };
  if (alone) {
    for (const Block& block : blocks) {
      go_through_rows(block);
      add_to_weights(block);
    }
  } else {  // sums over rows in the same order, whoever computed these
    for_each_block(blocks, go_through_rows);
    add_to_weights(whole);
  }
  return result;
}

}  // namespace tandem::cpu
