#include "model/step_work.h"

#include <algorithm>
#include <ranges>
#include <string_view>

#include "model/layout.h"

namespace tandem {
namespace {

constexpr double kFlopsForEachWeight = 6;  // multiply and add, once forward and twice backward

double values_of(const ParamSpec& spec) {
  double product = 1;
  for (const std::int64_t size : spec.shape) product *= static_cast<double>(size);
  return product;
}

// Weights that a token is multiplied by; looking up a row costs nothing.
double multiplied(const ParamSpec& spec) {
  const bool looked_up = spec.start == Start::embedding && spec.name != "output.weight";
  return spec.shape.size() < 2 || looked_up ? 0 : values_of(spec);
}

bool on_source(const ParamSpec& spec) {
  return spec.name.starts_with("encoder.") || spec.name.find(".cross.kv.") != std::string::npos;
}

// The output layer where it has no matrix of its own in the layout.
double tied_output(const ModelConfig& config, std::int64_t vocabulary) {
  if (config.tied == Tied::none) return 0;
  return static_cast<double>(padded_vocabulary(config, vocabulary) * config.d_model);
}

}  // namespace

double step_flops(const ModelConfig& config, std::int64_t vocabulary, double src_tokens,
                  double tgt_tokens) {
  double sum = tied_output(config, vocabulary) * tgt_tokens;
  for (const ParamSpec& spec : model_layout(config, vocabulary)) {
    sum += multiplied(spec) * (on_source(spec) ? src_tokens : tgt_tokens);
  }
  return kFlopsForEachWeight * sum;
}

std::vector<GradientWork> gradient_order(const ModelConfig& config, std::int64_t vocabulary) {
  const std::vector<ParamSpec> layout = model_layout(config, vocabulary);
  double done = tied_output(config, vocabulary);
  std::vector<GradientWork> order;
  for (const ParamSpec& spec : layout | std::views::reverse) {
    done += multiplied(spec);
    order.push_back({values_of(spec), done});
  }
  for (GradientWork& work : order) work.done_at /= done;
  return order;
}

}  // namespace tandem
