#include "translate/export/named_weights.h"

#include "base/error.h"
#include "model/transformer.h"

namespace tandem {
namespace {

bool has_row_a_word(const std::string& name) {
  return name.ends_with("embedding.weight") || name == "output.weight";
}

}  // namespace

WeightView WeightView::part(std::int64_t which, std::int64_t parts) const {
  check(shape.front() % parts == 0, "rows cannot be shared out");
  WeightView result{shape, {}};
  result.shape.front() /= parts;
  const std::size_t count = values.size() / static_cast<std::size_t>(parts);
  result.values = values.subspan(static_cast<std::size_t>(which) * count, count);
  return result;
}

NamedWeights named_weights(const Transformer& model) {
  check(model.params().device().is_cpu(), "weights are exported from the CPU");
  const auto* values = model.params().values().const_data_ptr<float>();
  NamedWeights weights;
  for (const FlatParams::Slot& slot : model.params().slots()) {
    WeightView view{slot.shape, {values + slot.offset, static_cast<std::size_t>(slot.count)}};
    if (has_row_a_word(slot.name)) {
      view.shape.front() = model.vocabulary();
      view.values =
          view.values.first(static_cast<std::size_t>(model.vocabulary() * view.shape.back()));
    }
    weights.emplace(slot.name, std::move(view));
  }
  return weights;
}

const WeightView& weight_of(const NamedWeights& weights, const std::string& name) {
  const auto found = weights.find(name);
  check(found != weights.end(), "the model has no " + name);
  return found->second;
}

}  // namespace tandem
