#include "train/average.h"

#include <cstring>
#include <span>

#include "base/error.h"
#include "base/format.h"
#include "model/safetensors.h"
#include "train/checkpoint_folder.h"

namespace tandem {
namespace {

// Sums in fp64, so that the order of the models does not show.
void add(std::vector<double>& sum, const ArrayView& array) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    float value = 0;
    std::memcpy(&value, array.bytes.data() + i * sizeof value, sizeof value);
    sum[i] += static_cast<double>(value);
  }
}

}  // namespace

void average_models(const std::vector<fs::path>& models, const fs::path& out) {
  check(!models.empty(), "an average of no models");
  StagedDirectory staged(out, false);
  std::vector<SafetensorsFile> files;
  for (const fs::path& model : models) files.emplace_back(model / kModelFile);

  std::vector<std::vector<float>> means;
  std::vector<ArrayView> arrays = files.front().arrays();
  for (ArrayView& array : arrays) {
    std::vector<double> sum(array.bytes.size() / sizeof(float));
    for (std::size_t i = 0; i < files.size(); ++i) {
      const ArrayView* other = files[i].find(array.name);
      if (files[i].arrays().size() != arrays.size() || other == nullptr ||
          other->shape != array.shape || other->type != ArrayType::f32) {
        throw UserError(format("{} and {} are different models ({}); average models of one run",
                               models[0].string(), models[i].string(), array.name));
      }
      add(sum, *other);
    }
    std::vector<float>& mean = means.emplace_back();
    for (const double value : sum) {
      mean.push_back(static_cast<float>(value / static_cast<double>(files.size())));
    }
    array.bytes = std::as_bytes(std::span(mean));
  }
  write_safetensors(staged.path() / kModelFile, arrays);
  for (const char* name : {"config.yaml", "vocab.model"}) {
    atomic_write(staged.path() / name, read_file(models.front() / name));
  }
  staged.commit();
}

}  // namespace tandem
