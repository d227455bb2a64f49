// named_weights: the weights of a model as plain numbers by name (layout.h has the names), for
// those who write them in another program's format. Rows that only pad the vocabulary are left out.
// No Torch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tandem {

class Transformer;

struct WeightView {
  std::vector<std::int64_t> shape;
  std::span<const float> values;  // row by row

  // One of `parts` equal parts that lie above each other, as queries, keys and values do.
  WeightView part(std::int64_t which, std::int64_t parts) const;
};

using NamedWeights = std::map<std::string, WeightView, std::less<>>;

// model: on the CPU; the views live as long as it does.
NamedWeights named_weights(const Transformer& model);

// An absent name is our own mistake.
const WeightView& weight_of(const NamedWeights& weights, const std::string& name);

}  // namespace tandem
