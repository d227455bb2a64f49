#include "train/average.h"

#include "base/error.h"
#include "base/format.h"
#include "model/model_folder.h"

namespace tandem {

void average_models(const std::vector<fs::path>& models, const fs::path& out) {
  check(!models.empty(), "an average of no models");
  if (fs::exists(out)) {
    throw UserError(format("{} exists already; name another folder", out.string()));
  }
  const ModelFolder first = load_model_folder(models.front(), at::kCPU);
  const FlatParams& params = first.model->params();
  const at::NoGradGuard no_gradient;
  // Sums in fp64, so that the order of the models does not show.
  Tensor sum = params.values().to(at::kDouble);
  for (std::size_t i = 1; i < models.size(); ++i) {
    const ModelFolder next = load_model_folder(models[i], at::kCPU);
    if (next.vocab->hash() != first.vocab->hash() ||
        next.model->params().values().numel() != sum.numel()) {
      throw UserError(format("{} and {} are different models; average models of one run",
                             models.front().string(), models[i].string()));
    }
    sum += next.model->params().values();
  }
  std::string names;
  for (const fs::path& model : models) {
    names += (names.empty() ? "" : " ") + model.filename().string();
  }
  write_model_folder(out, first.config, params,
                     (sum / static_cast<double>(models.size())).to(at::kFloat),
                     first.vocab->model_bytes(), {{"mean_of", names}});
}

}  // namespace tandem
