#include "train/adam.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "train/adam_cpu.h"

namespace tandem {
namespace {

constexpr std::int64_t kBlock = 16384;  // elements; four buffers of them fit a core's cache

}  // namespace

std::vector<std::size_t> lazy_slots(const FlatParams& params) {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(params.slots(), [&](const auto& slot) { return slot.name == name; });
  };
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < params.slots().size(); ++i) {
    const std::string& name = params.slots()[i].name;
    const bool only_looked_up = name == "encoder.embedding.weight" ||
                                (name == "decoder.embedding.weight" && has("output.weight"));
    if (only_looked_up) slots.push_back(i);
  }
  return slots;
}

Adam::Adam(FlatParams& params, const OptimConfig& config, AdamLoop loop)
    : params_(params),
      config_(config),
      fast_(params.device().is_cpu() && loop == AdamLoop::fast),
      first_(at::zeros_like(params.values())),
      second_(at::zeros_like(params.values())) {
  if (config.ema > 0) averaged_ = at::zeros_like(params.values());
  std::int64_t done = 0;
  for (const std::size_t i :
       config.lazy_embedding ? lazy_slots(params) : std::vector<std::size_t>{}) {
    const FlatParams::Slot& slot = params.slots()[i];
    if (slot.offset > done) spans_.push_back({done, slot.offset});
    done = slot.offset + slot.count;
    spans_.push_back({slot.offset, done, slot.shape.at(1)});
  }
  spans_.push_back({done, params.values().numel()});
}

void Adam::start_average() {
  const at::NoGradGuard no_gradient;
  if (averaged_.defined()) averaged_.copy_(params_.values());
}

double Adam::norm_of_gradients() const {
  const Tensor& gradients = params_.gradients();
  if (!fast_) return gradients.norm(2, at::kDouble).item<double>();
  const std::int64_t size = gradients.numel();
  const float* data = gradients.const_data_ptr<float>();
  std::vector<double> sums(static_cast<std::size_t>((size + kBlock - 1) / kBlock));
  at::parallel_for(0, static_cast<std::int64_t>(sums.size()), 1, [&](auto begin, auto end) {
    for (auto block = begin; block < end; ++block) {
      const std::int64_t first = block * kBlock;
      sums[static_cast<std::size_t>(block)] =
          sum_of_squares(data + first, std::min(kBlock, size - first));
    }
  });
  double sum = 0;
  for (const double block : sums) sum += block;
  return std::sqrt(sum);
}

UpdateStats Adam::step(std::int64_t update, double lr, double factor) {
  const at::NoGradGuard no_gradient;
  UpdateStats stats;
  stats.grad_norm = norm_of_gradients() * factor;
  stats.finite = std::isfinite(stats.grad_norm);
  if (!stats.finite) return stats;

  const double clip = config_.clip;
  const double shrink = clip > 0 && stats.grad_norm > clip ? clip / stats.grad_norm : 1.0;
  const auto t = static_cast<double>(update);
  AdamFactors f;
  f.gradient = static_cast<float>(factor * shrink);
  f.beta1 = static_cast<float>(config_.beta1);
  f.beta2 = static_cast<float>(config_.beta2);
  f.step_size = static_cast<float>(lr / (1 - std::pow(config_.beta1, t)));
  f.root_factor = static_cast<float>(1 / std::sqrt(1 - std::pow(config_.beta2, t)));
  f.eps = static_cast<float>(config_.eps);
  f.keep = static_cast<float>(1 - lr * config_.weight_decay);
  // A short memory at first, or the random start would be in the average for long (as TensorFlow's
  // ExponentialMovingAverage does it).
  f.ema_keep = static_cast<float>(std::min(config_.ema, (1 + t) / (10 + t)));
  fast_ ? step_on_cpu(f) : step_with_tensors(f);
  return stats;
}

void Adam::step_on_cpu(const AdamFactors& factors) {
  const AdamBuffers buffers{params_.values().mutable_data_ptr<float>(),
                            params_.gradients().const_data_ptr<float>(),
                            first_.mutable_data_ptr<float>(), second_.mutable_data_ptr<float>(),
                            averaged_.defined() ? averaged_.mutable_data_ptr<float>() : nullptr};
  for (const Span& span : spans_) {
    const std::int64_t unit = span.row > 0 ? span.row : kBlock;
    const std::int64_t units = (span.end - span.begin + unit - 1) / unit;
    at::parallel_for(0, units, std::max<std::int64_t>(1, kBlock / unit), [&](auto from, auto to) {
      for (auto i = from; i < to; ++i) {
        const std::int64_t begin = span.begin + i * unit, end = std::min(begin + unit, span.end);
        const bool untouched = span.row > 0 && all_zero(buffers.gradients + begin, end - begin);
        untouched ? average_only(buffers, factors, begin, end)
                  : adam_update(buffers, factors, begin, end);
      }
    });
  }
}

// The same in Torch's operations: for other devices, and the slow twin in the tests.
void Adam::step_with_tensors(const AdamFactors& f) {
  for (const Span& span : spans_) {
    const auto part = [&](const Tensor& flat) {
      return flat.narrow(0, span.begin, span.end - span.begin)
          .view({-1, span.row > 0 ? span.row : span.end - span.begin});
    };
    Tensor values = part(params_.values()), first = part(first_), second = part(second_);
    const Tensor g = part(params_.gradients()) * f.gradient;
    const Tensor m = first * f.beta1 + g * (1 - f.beta1);
    const Tensor v = second * f.beta2 + g * g * (1 - f.beta2);
    const Tensor w = values * f.keep - m * f.step_size / (v.sqrt() * f.root_factor + f.eps);
    if (span.row > 0) {
      const Tensor touched = (part(params_.gradients()) != 0).any(1, true);
      values.copy_(at::where(touched, w, values));
      first.copy_(at::where(touched, m, first));
      second.copy_(at::where(touched, v, second));
    } else {
      values.copy_(w);
      first.copy_(m);
      second.copy_(v);
    }
  }
  if (averaged_.defined()) {
    averaged_.mul_(f.ema_keep).add_(params_.values(), 1 - f.ema_keep);
  }
}

}  // namespace tandem
