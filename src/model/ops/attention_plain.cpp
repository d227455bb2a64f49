#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/ops/attention.h"

namespace tandem {
namespace {

// How packed rows lie in a padded [B, longest] block.
struct Padding {
  std::int64_t sentences = 0, longest = 0;
  Tensor rows;     // int64 [B * longest]: the packed row of each place; row 0 where there is none
  Tensor present;  // bool [B, longest]
  Tensor places;   // int64 [N]: the place of each packed row
};

Padding pad(const Tensor& offsets, at::Device device) {
  const auto* ends = offsets.const_data_ptr<std::int32_t>();
  Padding result;
  result.sentences = offsets.numel() - 1;
  for (std::int64_t i = 0; i < result.sentences; ++i) {
    result.longest = std::max<std::int64_t>(result.longest, ends[i + 1] - ends[i]);
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(result.sentences * result.longest));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < result.sentences; ++i) {
    for (std::int64_t row = ends[i]; row < ends[i + 1]; ++row) {
      const std::int64_t place = i * result.longest + row - ends[i];
      rows[static_cast<std::size_t>(place)] = row;
      places.push_back(place);
    }
  }
  result.rows = at::tensor(rows).to(device);
  result.places = at::tensor(places).to(device);
  result.present = at::zeros({result.sentences * result.longest},
                             at::TensorOptions().dtype(at::kBool).device(device))
                       .index_fill(0, result.places, true)
                       .view({result.sentences, result.longest});
  return result;
}

// [N, D] to [B, heads, longest, width]
Tensor spread(const Tensor& packed, const Padding& padding, std::int64_t heads) {
  return packed.index_select(0, padding.rows)
      .view({padding.sentences, padding.longest, heads, packed.size(1) / heads})
      .transpose(1, 2);
}

// [B, heads, queries, keys]
Tensor factors(const Padding& queries, const Padding& keys, const AttentionSpec& spec) {
  const Tensor tokens = spec.drop.keys.to(queries.rows.device()).index_select(0, queries.rows);
  std::vector<Tensor> heads;
  for (std::int64_t head = 0; head < spec.heads; ++head) {
    const Tensor row_keys =
        row_keys_plain(tokens, spec.drop.site + static_cast<std::uint64_t>(head));
    heads.push_back(dropout_factors_plain(row_keys, keys.longest, spec.drop.rate)
                        .view({queries.sentences, queries.longest, keys.longest}));
  }
  return at::stack(heads, 1);
}

}  // namespace

Tensor attention_plain(const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionSpec& spec) {
  const Padding queries = pad(spec.query_offsets, q.device());
  const Padding keys = pad(spec.key_offsets, q.device());
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(1) / spec.heads));
  Tensor hidden = keys.present.logical_not().view({keys.sentences, 1, 1, keys.longest});
  if (spec.causal) {
    const Tensor future = at::ones({queries.longest, keys.longest}, hidden.options()).triu(1);
    hidden = hidden.logical_or(future);
  }
  const Tensor scores =
      at::matmul(spread(q, queries, spec.heads), spread(k, keys, spec.heads).transpose(2, 3)) *
      scale;
  Tensor weights =
      at::softmax(scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()), 3);
  if (spec.drop.active()) weights = weights * factors(queries, keys, spec);
  return at::matmul(weights, spread(v, keys, spec.heads))
      .transpose(1, 2)
      .reshape({queries.sentences * queries.longest, q.size(1)})
      .index_select(0, queries.places);
}

Tensor self_attention_plain(const Tensor& qkv, const AttentionSpec& spec) {
  const auto parts = qkv.chunk(3, 1);
  return attention_plain(parts[0], parts[1], parts[2], spec);
}

Tensor cross_attention_plain(const Tensor& q, const Tensor& kv, const AttentionSpec& spec) {
  const auto parts = kv.chunk(2, 1);
  return attention_plain(q, parts[0], parts[1], spec);
}

}  // namespace tandem
