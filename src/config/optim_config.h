// optim_config: how the weights are updated: Adam, its learning rate, and what guards it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/option.h"

namespace tandem {

enum class Schedule { transformer_policy, inverse_sqrt, linear, cosine, constant };
constexpr std::array<std::string_view, 5> names_of(Schedule) {
  return {"transformer_policy", "inverse_sqrt", "linear", "cosine", "constant"};
}

enum class LossScaling { backoff, fixed };
constexpr std::array<std::string_view, 2> names_of(LossScaling) {
  return {"backoff", "fixed"};
}

struct OptimConfig {
  Schedule schedule = Schedule::transformer_policy;
  double lr = 2.0;
  std::int64_t warmup_steps = 8000;
  std::optional<double> max_lr;
  double min_lr = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.997;
  double eps = 1e-9;
  bool lazy_embedding = false;
  double weight_decay = 0.0;
  double clip = 0.0;
  double ema = 0.0;
  bool shard = false;
  double label_smoothing = 0.1;
  LossScaling loss_scaling = LossScaling::backoff;
  double loss_scale = 65536.0;
  std::int64_t loss_scale_window = 2000;
};

template <class Visitor>
void describe(Visitor&& option, OptimConfig& c) {
  option("schedule", c.schedule, "how the learning rate changes over the steps");
  option("lr", c.lr, above(0), "",
         "the highest rate; transformer_policy: factor of d_model^-0.5 * step^-0.5");
  option("warmup_steps", c.warmup_steps, at_least(0), "steps",
         "the rate rises in a straight line over these steps");
  option("max_lr", c.max_lr, above(0), "", "the rate is cut off here; null: nowhere");
  option("min_lr", c.min_lr, at_least(0), "", "linear and cosine end at this rate");
  option("beta1", c.beta1, fraction(), "", "Adam: decay of the mean of gradients");
  option("beta2", c.beta2, fraction(), "", "Adam: decay of the mean of squared gradients");
  option("eps", c.eps, between(1e-30, 1), "", "Adam: added to the denominator");  // 0 in fp32 below
  option("lazy_embedding", c.lazy_embedding,
         "Adam leaves embedding rows alone that no token of the batch used");
  option("weight_decay", c.weight_decay, fraction(), "",
         "share of each weight taken off a step, times the rate (decoupled); 0: none");
  option("clip", c.clip, at_least(0), "",
         "gradients of a larger norm are scaled down to it; 0: never");
  option("ema", c.ema, fraction(), "",
         "decay of the averaged weights that are evaluated and saved; 0: no averaging");
  option(
      "shard", c.shard,
      "each worker keeps a part of Adam's state, equal results; CPUs and cluster.mode=exact only");
  option("label_smoothing", c.label_smoothing, fraction(), "",
         "share of the target probability spread over the whole vocabulary");
  option("loss_scaling", c.loss_scaling,
         "fp16 only: halve the scale at an overflow (backoff) or leave it (fixed)");
  option("loss_scale", c.loss_scale, between(1, 1 << 30), "",
         "fp16 only: the scale of the first step");
  option("loss_scale_window", c.loss_scale_window, at_least(1), "steps",
         "fp16 only: backoff doubles the scale after this many steps without overflow");
}

}  // namespace tandem
