// model_folder: a model as it is kept and handed on: weights, the settings it was trained with and
// its vocabulary in one folder that needs nothing else. Weights and vocabulary know each other by
// hash: what does not belong together, or is damaged, is refused.
#pragma once

#include <memory>
#include <string>

#include "base/files.h"
#include "config/run_config.h"
#include "data/vocab.h"
#include "model/safetensors.h"
#include "model/transformer.h"

namespace tandem {

// The folder appears whole or not at all; an existing one is replaced.
// values: a buffer laid out like params, of the weights or of their running mean.
// vocab_model: the bytes of the SentencePiece model.
// metadata: free text that load_model_folder() gives back (the step, for example).
void write_model_folder(const fs::path& folder, const RunConfig& config, const FlatParams& params,
                        const Tensor& values, const std::string& vocab_model,
                        TextMap metadata = {});

struct ModelFolder {
  RunConfig config;
  std::shared_ptr<const Vocab> vocab;
  std::unique_ptr<Transformer> model;
  TextMap metadata;
};

// folder: as find_model_folder() gives it. A file that is missing, damaged, of another model or
// without numbers for weights is a UserError that names it.
ModelFolder load_model_folder(const fs::path& folder, at::Device device,
                              at::ScalarType compute = at::kFloat);

}  // namespace tandem
