#include "train/checkpoint_folder.h"

#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "model/safetensors.h"
#include "train/retention.h"

namespace tandem {
namespace {

constexpr const char* kFirst = "first_moment.";
constexpr const char* kSecond = "second_moment.";
constexpr const char* kKept = "kept.";  // and the host's number
constexpr const char* kRaw = "raw.";  // the trained weights, when the model file has averaged ones

void add_arrays(std::vector<ArrayView>& arrays, const std::string& prefix, const FlatParams& layout,
                const Tensor& flat) {
  const auto* data = flat.const_data_ptr<float>();
  for (const FlatParams::Slot& slot : layout.slots()) {
    const std::span floats{data + slot.offset, static_cast<std::size_t>(slot.count)};
    arrays.push_back({prefix + slot.name, ArrayType::f32, slot.shape, std::as_bytes(floats)});
  }
}

Tensor flat_array(const SafetensorsFile& file, const fs::path& path, const std::string& prefix,
                  const FlatParams& layout) {
  const Tensor values = at::zeros(layout.values().sizes(), at::kFloat);
  for (const FlatParams::Slot& slot : layout.slots()) {
    const ArrayView* array = file.find(prefix + slot.name);
    if (array == nullptr || array->type != ArrayType::f32 || array->shape != slot.shape) {
      throw UserError(
          format("{}: {}{} is missing or of another shape; resume with the model "
                 "settings of the run",
                 path.string(), prefix, slot.name));
    }
    std::memcpy(values.mutable_data_ptr<float>() + slot.offset, array->bytes.data(),
                array->bytes.size());
  }
  return values;
}

// Where a checkpoint has an array.
struct ArrayPlace {
  const char* file;
  const char* prefix;
};
ArrayPlace place_of(StateArray which, bool averaging) {
  switch (which) {
    case StateArray::first:
      return {kOptimizerFile, kFirst};
    case StateArray::second:
      return {kOptimizerFile, kSecond};
    case StateArray::averaged:
      return {kModelFile, ""};
    case StateArray::values:
      break;
  }
  return averaging ? ArrayPlace{kOptimizerFile, kRaw} : ArrayPlace{kModelFile, ""};
}

std::string kept_prefix(std::size_t host) {
  return format("{}{}.", kKept, host);
}

}  // namespace

std::uint64_t write_checkpoint(const fs::path& folder, const FlatParams& layout,
                               const TrainTensors& tensors, const Json& state,
                               const std::function<void()>& written) {
  StagedDirectory staged(folder, true);
  const bool averaging = tensors.averaged.defined();
  std::vector<ArrayView> model, optimizer;
  add_arrays(model, "", layout, averaging ? tensors.averaged : tensors.values);
  add_arrays(optimizer, kFirst, layout, tensors.first);
  add_arrays(optimizer, kSecond, layout, tensors.second);
  if (averaging) add_arrays(optimizer, kRaw, layout, tensors.values);
  for (std::size_t host = 0; host < tensors.kept.size(); ++host) {
    add_arrays(optimizer, kept_prefix(host), layout, tensors.kept[host]);
  }
  write_safetensors(staged.path() / kModelFile, model, {}, written);
  write_safetensors(staged.path() / kOptimizerFile, optimizer, {}, written);
  atomic_write(staged.path() / kStateFile, state.dump(2) + "\n");
  const std::vector<ManifestEntry> files = manifest_entries(staged.path());
  const std::string manifest = manifest_text(files);
  atomic_write(staged.path() / kManifestFile, manifest);
  staged.commit();
  std::uint64_t bytes = manifest.size();
  for (const ManifestEntry& file : files) bytes += static_cast<std::uint64_t>(file.bytes);
  return bytes;
}

Json read_checkpoint_state(const fs::path& folder) {
  const fs::path path = folder / kStateFile;
  Json state = Json::parse(read_regular_file(path), path.string());
  const fs::path name = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  const auto named = step_of_checkpoint(name.string());
  const Json* step = state.is_object() ? state.find("step") : nullptr;
  if (named && (step == nullptr || step->dump() != Json(*named).dump())) {
    throw UserError(
        format("{}: it is of another step than its folder's name; restore it, or go on from "
               "another checkpoint",
               path.string()));
  }
  return state;
}

void read_checkpoint_tensors(const fs::path& folder, const FlatParams& layout,
                             const TrainTensors& tensors) {
  const bool averaging = tensors.averaged.defined();
  const at::NoGradGuard no_gradient;
  const auto fill = [&](StateArray which, const Tensor& flat) {
    if (flat.defined()) flat.copy_(read_checkpoint_array(folder, layout, which, averaging));
  };
  fill(StateArray::values, tensors.values);
  fill(StateArray::first, tensors.first);
  fill(StateArray::second, tensors.second);
  fill(StateArray::averaged, tensors.averaged);
}

Tensor read_checkpoint_array(const fs::path& folder, const FlatParams& layout, StateArray which,
                             bool averaging) {
  const ArrayPlace place = place_of(which, averaging);
  const fs::path path = folder / place.file;
  return flat_array(SafetensorsFile(path), path, place.prefix, layout);
}

std::vector<Tensor> read_checkpoint_kept(const fs::path& folder, const FlatParams& layout) {
  const fs::path path = folder / kOptimizerFile;
  const SafetensorsFile optimizer(path);
  std::vector<Tensor> kept;
  while (optimizer.find(kept_prefix(kept.size()) + layout.slots().front().name) != nullptr) {
    kept.push_back(flat_array(optimizer, path, kept_prefix(kept.size()), layout));
  }
  return kept;
}

}  // namespace tandem
