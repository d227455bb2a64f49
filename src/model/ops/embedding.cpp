#include "model/ops/embedding.h"

#include <cmath>

namespace tandem {

Tensor embed(const Tensor& weight, const Tensor& table, const Tensor& ids, const Tensor& positions,
             const Dropout& drop) {
  const double scale = std::sqrt(static_cast<double>(weight.size(1)));
  const Tensor place = at::embedding(table, positions);
  return dropout(at::add(place, at::embedding(weight, ids), scale), drop);
}

}  // namespace tandem
