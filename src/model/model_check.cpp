#include "model/model_check.h"

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "model/model_path.h"

namespace tandem {
namespace {

const std::string& stated_hash(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    throw UserError(
        format("{}: it does not state its {}; only models that tandem wrote can be used",
               file.path().string(), key));
  }
  return found->second;
}

}  // namespace

std::string hash_of_values(const SafetensorsFile& file) {
  Hasher64 hasher;
  for (const ArrayView& array : file.arrays()) hasher.add(array.bytes);
  return hash_text(hasher.value());
}

void check_model(const SafetensorsFile& weights, std::uint64_t vocab_hash) {
  if (const auto& needed = stated_hash(weights, kVocabHash); needed != hash_text(vocab_hash)) {
    throw UserError(
        format("{}: the model was trained with the vocabulary {}, but {} is {}; put "
               "the model's own vocabulary there",
               weights.path().string(), needed, kModelVocab, hash_text(vocab_hash)));
  }
  const std::string& stated = stated_hash(weights, kValuesHash);
  if (const std::string found = hash_of_values(weights); stated != found) {
    throw UserError(
        format("{}: damaged (the weights have the hash {} instead of {}); take "
               "another copy",
               weights.path().string(), found, stated));
  }
}

}  // namespace tandem
