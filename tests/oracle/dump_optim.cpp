// dump_optim SETTINGS.json OUT: takes some updates of a few made-up parameters and writes
// OUT/start.safetensors, OUT/step-N.safetensors (the values after update N) and OUT/norms.json (of
// the gradients). Gradients are a function of (step, index) that tests/oracle/test_optim.py
// computes too; it makes the same updates with torch.optim.
#include <exception>
#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "model/model_file.h"
#include "train/adam.h"

namespace tandem {
namespace {

// Of every element: (its number * 37 + step * 11) modulo 101, centred, times the scale.
void set_gradients(FlatParams& params, std::int64_t step, double scale) {
  const at::NoGradGuard no_gradient;
  for (const auto& slot : params.slots()) {
    const Tensor number = at::arange(slot.count, at::kDouble);
    const Tensor gradient =
        (at::fmod(number * 37 + static_cast<double>(step * 11), 101) - 50) * scale;
    params.gradients().narrow(0, slot.offset, slot.count).copy_(gradient);
  }
}

void run(const fs::path& settings_path, const fs::path& out) {
  const Json settings = Json::parse(read_file(settings_path), settings_path.string());
  OptimConfig config;
  config.beta1 = settings.at("beta1").as_double();
  config.beta2 = settings.at("beta2").as_double();
  config.eps = settings.at("eps").as_double();
  config.weight_decay = settings.at("weight_decay").as_double();
  config.clip = settings.at("clip").as_double();
  const double scale = settings.at("gradient_scale").as_double();
  const double factor = settings.at("factor").as_double();

  FlatParams params({{"a", {37, 29}}, {"b", {5}}, {"c", {300, 70}}}, at::kCPU);
  {
    const at::NoGradGuard no_gradient;
    for (const auto& slot : params.slots()) {
      params.values().narrow(0, slot.offset, slot.count).copy_(at::sin(at::arange(slot.count)));
    }
  }
  Adam adam(params, config);
  write_flat(out / "start.safetensors", params, params.values());
  Json norms = Json::array();
  std::int64_t step = 0;
  for (const Json& lr : settings.at("rates").items()) {
    ++step;
    set_gradients(params, step, scale);
    norms.push(adam.step(step, lr.as_double(), factor).grad_norm);
    write_flat(out / format("step-{}.safetensors", step), params, params.values());
  }
  atomic_write(out / "norms.json", norms.dump());
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw tandem::UserError("usage: dump_optim SETTINGS.json OUT");
    tandem::run(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "dump_optim: " << error.what() << '\n';
    return 1;
  }
}
