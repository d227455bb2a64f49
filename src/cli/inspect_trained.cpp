#include "cli/inspect_trained.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "config/dump.h"
#include "config/load.h"
#include "data/vocab.h"
#include "model/model_check.h"
#include "model/model_path.h"
#include "train/checkpoint_manifest.h"

namespace tandem {
namespace {

std::int64_t numbers_in(const SafetensorsFile& file) {
  std::int64_t numbers = 0;
  for (const ArrayView& array : file.arrays()) {
    numbers += static_cast<std::int64_t>(array.bytes.size() / bytes_of(array.type));
  }
  return numbers;
}

Json metadata_of(const SafetensorsFile& file) {
  Json metadata = Json::object();
  for (const auto& [key, value] : file.metadata()) metadata.set(key, value);
  return metadata;
}

// Sorted, as a folder lists its entries in no order; hidden ones are not done yet.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(none) && !name.starts_with(".")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// What training would see, too, without reading every byte.
void check_size(const fs::path& folder, const ManifestEntry& entry) {
  const fs::path file = folder / entry.name;
  if (!fs::exists(file)) throw UserError(format("{} is missing", entry.name));
  const std::uintmax_t bytes = fs::file_size(file);
  if (std::cmp_equal(bytes, entry.bytes)) return;
  throw UserError(format("{} has {} bytes instead of {}", entry.name, bytes, entry.bytes));
}

Json standing_of(const fs::path& folder) {
  const Json state = Json::parse(read_regular_file(folder / kStateFile), kStateFile);
  try {
    return Json::object()
        .set("kind", "checkpoint")
        .set("step", state.at("step"))
        .set("epoch", state.at("cursor").at("epoch"))
        .set("tokens", state.at("tokens"))
        .set("seconds", state.at("seconds"))
        .set("best_val_loss", state.at("best_val_loss"))
        .set("bleu", state.at("bleu"));
  } catch (const UserError& error) {
    throw UserError(format("{}: {}", kStateFile, error.what()));
  }
}

Json model_sizes(const fs::path& folder) {
  Json sizes = Json::object();
  for (const char* name : {kModelWeights, kModelConfig, kModelVocab}) {
    sizes.set(name, fs::file_size(folder / name));
  }
  return sizes;
}

}  // namespace

bool is_checkpoint_folder(const fs::path& folder) {
  return fs::exists(folder / kManifestFile) || fs::exists(folder / kOptimizerFile);
}

bool is_run_folder(const fs::path& folder) {
  return fs::exists(folder / "journal.jsonl") || fs::is_directory(folder / "checkpoints");
}

Json inspect_checkpoint(const fs::path& folder, bool verify) try {
  if (verify || !fs::exists(folder / kManifestFile)) {
    if (const std::string problem = checkpoint_problem(folder); !problem.empty()) {
      throw UserError(problem);
    }
  }
  Json sizes = Json::object(), hashes = Json::object();
  for (const ManifestEntry& entry : parse_manifest(read_regular_file(folder / kManifestFile))) {
    check_size(folder, entry);
    sizes.set(entry.name, entry.bytes);
    hashes.set(entry.name, entry.hash);
  }
  return standing_of(folder)
      .set("parameters", numbers_in(SafetensorsFile(folder / kModelFile)))
      .set("bytes", std::move(sizes))
      .set("hashes", std::move(hashes))
      .set("verified", verify);
} catch (const UserError& error) {
  throw UserError(format("{}: {}; this checkpoint is not used", folder.string(), error.what()));
}

Json inspect_model(const fs::path& folder, bool verify) {
  const fs::path settings = folder / kModelConfig;
  const RunConfig config = load_config({&settings, 1}, {});
  const auto vocab = Vocab::load(folder / kModelVocab);
  const SafetensorsFile weights(folder / kModelWeights);
  if (verify) check_model(weights, vocab->hash());
  return Json::object()
      .set("kind", "model")
      .set("parameters", numbers_in(weights))
      .set("model", dump_json(config).at("model"))
      .set("vocabulary", vocab->size())
      .set("metadata", metadata_of(weights))
      .set("bytes", model_sizes(folder))
      .set("verified", verify);
}

Json inspect_run(const fs::path& folder, bool verify) {
  Json checkpoints = Json::array(), best = Json::array();
  for (const std::string& name : names_in(folder / "checkpoints")) {
    const fs::path checkpoint = folder / "checkpoints" / name;
    if (verify) inspect_checkpoint(checkpoint, true);
    checkpoints.push(name);
  }
  for (const std::string& name : names_in(folder / "best")) {
    if (verify) inspect_model(folder / "best" / name, true);
    best.push(name);
  }
  Json translates(nullptr);
  try {
    const fs::path model = find_model_folder(folder);
    if (verify) inspect_model(model, true);
    translates = Json(model.string());
  } catch (const UserError&) {
    if (is_model_folder(folder / "model")) throw;  // it is there, and damaged
  }
  return Json::object()
      .set("kind", "run")
      .set("checkpoints", std::move(checkpoints))
      .set("best", std::move(best))
      .set("model", std::move(translates))
      .set("verified", verify);
}

Json inspect_weights(const fs::path& file) {
  const SafetensorsFile weights(file);
  Json arrays = Json::object();
  for (const ArrayView& array : weights.arrays()) {
    Json shape = Json::array();
    for (const std::int64_t size : array.shape) shape.push(size);
    arrays.set(array.name, std::move(shape));
  }
  return Json::object()
      .set("kind", "weights")
      .set("numbers", numbers_in(weights))
      .set("hash", hash_of_values(weights))
      .set("metadata", metadata_of(weights))
      .set("arrays", std::move(arrays));
}

}  // namespace tandem
