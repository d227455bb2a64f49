// model_check: whether the weights and the vocabulary of a model folder are whole and belong
// together. No Torch.
#pragma once

#include <cstdint>
#include <string>

#include "model/safetensors.h"

namespace tandem {

// Keys of the weights' metadata.
inline constexpr const char* kVocabHash = "vocab_hash";
inline constexpr const char* kValuesHash = "values_hash";

// Of all arrays, in the order in which they lie in the file.
std::string hash_of_values(const SafetensorsFile& file);

// Reads every byte. Damaged weights, those of another vocabulary, or of another program are a
// UserError.
void check_model(const SafetensorsFile& weights, std::uint64_t vocab_hash);

}  // namespace tandem
