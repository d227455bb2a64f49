// layout: which parameters a model has, in which order, and how each one starts. No Torch: the size
// of a model is known before it is built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model_config.h"

namespace tandem {

enum class Start {
  zero,
  one,
  xavier,     // uniform in +-sqrt(6 / (fan_in + fan_out))
  embedding,  // normal with deviation d_model^-0.5; rows that are not in use are zero
};

struct ParamSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  Start start = Start::zero;
  std::int64_t fan_in = 0, fan_out = 0;
  std::int64_t used_rows = 0;  // of an embedding
};

// Rows of the embedding matrices: the vocabulary rounded up to config.vocab_multiple.
std::int64_t padded_vocabulary(const ModelConfig& config, std::int64_t vocabulary);

std::vector<ParamSpec> model_layout(const ModelConfig& config, std::int64_t vocabulary);

std::int64_t parameter_count(const std::vector<ParamSpec>& layout);

}  // namespace tandem
