// model_file: the values of a model in a safetensors file, one array a parameter, by name.
#pragma once

#include "model/flat_params.h"
#include "model/layout.h"
#include "model/safetensors.h"

namespace tandem {

// flat: a buffer laid out like params (values, gradients, moments), fp32, on any device.
void write_flat(const fs::path& path, const FlatParams& params, const Tensor& flat,
                const TextMap& metadata = {});

// The file holds every one of these parameters; else a UserError naming file and array. Before a
// model is built by settings from outside: they cannot ask for more memory than the file has bytes.
void require_arrays(const SafetensorsFile& file, const std::vector<ParamSpec>& layout);

// Fills flat. Missing or surplus arrays, another shape or type: UserError naming file and array.
void read_flat(const SafetensorsFile& file, const FlatParams& params, const Tensor& flat);

}  // namespace tandem
