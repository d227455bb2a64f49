// model_file: the values of a model in a safetensors file, one array a parameter, by name.
#pragma once

#include "config/model_config.h"
#include "model/flat_params.h"
#include "model/safetensors.h"

namespace tandem {

// flat: a buffer laid out like params (values, gradients, moments), fp32, on any device.
void write_flat(const fs::path& path, const FlatParams& params, const Tensor& flat,
                const TextMap& metadata = {});

// Before a model is built by settings from outside: the file holds as many numbers as it needs, or
// it is a UserError. So no settings can ask for more memory than a file of that size.
void require_weights(const SafetensorsFile& file, const ModelConfig& config,
                     std::int64_t vocabulary);

// Fills flat. Missing or surplus arrays, another shape or type: UserError naming file and array.
void read_flat(const SafetensorsFile& file, const FlatParams& params, const Tensor& flat);

}  // namespace tandem
