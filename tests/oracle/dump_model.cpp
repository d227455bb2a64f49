// dump_model SETTINGS.json OUT: builds the model that the settings describe, runs one batch without
// dropout and writes OUT/weights.safetensors, OUT/gradients.safetensors (of the smoothed sum),
// OUT/forward.safetensors (log probabilities) and OUT/loss.json. tests/oracle/test_model.py
// computes the same with PyTorch.
#include <algorithm>
#include <exception>
#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "model/model_file.h"
#include "model/transformer.h"

namespace tandem {
namespace {

template <class Choice>
Choice choice(const Json& settings, std::string_view key) {
  const auto names = names_of(Choice{});
  const auto found = std::ranges::find(names, settings.at(key).as_string());
  if (found == names.end()) throw UserError("unknown value of " + std::string(key));
  return static_cast<Choice>(found - names.begin());
}

ModelConfig model_config(const Json& settings) {
  ModelConfig config;
  config.d_model = settings.at("d_model").as_int();
  config.heads = settings.at("heads").as_int();
  config.ffn = settings.at("ffn").as_int();
  config.encoder_layers = settings.at("encoder_layers").as_int();
  config.decoder_layers = settings.at("decoder_layers").as_int();
  config.norm = choice<NormPlace>(settings, "norm");
  config.activation = choice<Activation>(settings, "activation");
  config.tied = choice<Tied>(settings, "tied");
  config.positions = choice<Positions>(settings, "positions");
  return config;
}

std::vector<std::int32_t> ints(const Json& settings, std::string_view key) {
  std::vector<std::int32_t> values;
  for (const Json& item : settings.at(key).items()) {
    values.push_back(static_cast<std::int32_t>(item.as_int()));
  }
  return values;
}

void run(const fs::path& settings_path, const fs::path& out) {
  const Json settings = Json::parse(read_file(settings_path), settings_path.string());
  Transformer model(model_config(settings), settings.at("vocabulary").as_int(), at::kCPU);
  model.initialize(static_cast<std::uint64_t>(settings.at("seed").as_int()));
  {
    // Biases and norms that start at 0 and 1 would hide mistakes.
    const at::NoGradGuard no_gradient;
    model.params().values().add_(at::sin(at::arange(model.params().values().numel())), 0.02);
  }
  Batch batch;
  batch.src_ids = ints(settings, "src_ids");
  batch.src_offsets = ints(settings, "src_offsets");
  batch.tgt_in = ints(settings, "tgt_in");
  batch.tgt_out = ints(settings, "tgt_out");
  batch.tgt_offsets = ints(settings, "tgt_offsets");

  const LossTerms loss = model.loss(batch, {settings.at("label_smoothing").as_double(), {}});
  loss.sum.backward();
  write_flat(out / "weights.safetensors", model.params(), model.params().values());
  write_flat(out / "gradients.safetensors", model.params(), model.params().gradients());
  const Tensor logs = model.log_probabilities(batch).contiguous();
  const std::span values{logs.const_data_ptr<float>(), static_cast<std::size_t>(logs.numel())};
  const ArrayView array{"logs", ArrayType::f32, logs.sizes().vec(), std::as_bytes(values)};
  write_safetensors(out / "forward.safetensors", {&array, 1});
  atomic_write(out / "loss.json", Json::object()
                                      .set("sum", loss.sum.item<double>())
                                      .set("nll", loss.nll.item<double>())
                                      .set("tokens", loss.tokens)
                                      .dump());
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw tandem::UserError("usage: dump_model SETTINGS.json OUT");
    tandem::run(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "dump_model: " << error.what() << '\n';
    return 1;
  }
}
