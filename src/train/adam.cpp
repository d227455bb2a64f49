#include "train/adam.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "train/adam_cpu.h"

namespace tandem {
namespace {

constexpr std::int64_t kBlock = 16384;  // elements; four buffers of them fit a core's cache

// Smaller ones for small models, so that several workers have something of each. Cache lines stay
// whole.
std::int64_t piece_size(std::int64_t size) {
  constexpr std::int64_t kPieces = 256, kLine = 16;
  return std::clamp((size / kPieces + kLine - 1) / kLine * kLine, kLine, kBlock);
}

// Calls work(i) for all i below count, several at a time when they are worth a thread.
template <class Work>
void for_pieces(std::size_t count, std::int64_t size, Work&& work) {
  at::parallel_for(0, static_cast<std::int64_t>(count), std::max<std::int64_t>(1, kBlock / size),
                   [&](auto begin, auto end) {
                     for (auto i = begin; i < end; ++i) work(static_cast<std::size_t>(i));
                   });
}

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

Adam::Adam(FlatParams& params, const OptimConfig& config, AdamLoop loop, AdamShard shard)
    : params_(params),
      config_(config),
      fast_(params.device().is_cpu() && loop == AdamLoop::fast),
      shard_(std::move(shard)) {
  check(fast_ || shard_.workers == 1, "sharded state needs the loops for the CPU");
  std::int64_t done = 0;
  for (const std::size_t i :
       config.lazy_embedding ? lazy_slots(params) : std::vector<std::size_t>{}) {
    const FlatParams::Slot& slot = params.slots()[i];
    if (slot.offset > done) spans_.push_back({done, slot.offset});
    done = slot.offset + slot.count;
    spans_.push_back({slot.offset, done, slot.shape.at(1)});
  }
  if (done < params.values().numel()) spans_.push_back({done, params.values().numel()});
  cut_pieces();
  const auto options = params.values().options();
  first_ = at::zeros({plan_.shard_size(shard_.worker)}, options);
  second_ = at::zeros_like(first_);
  if (config.ema > 0) averaged_ = at::zeros_like(first_);
}

// Pieces do not depend on workers, and rows that are judged as a whole stay whole.
void Adam::cut_pieces() {
  std::vector<Span> all;
  std::vector<GradRange> ranges;
  const std::int64_t size = piece_size(params_.values().numel());
  for (const Span& span : spans_) {
    const std::int64_t most =
        span.row > 0 ? std::max<std::int64_t>(1, size / span.row) * span.row : size;
    for (std::int64_t begin = span.begin; begin < span.end; begin += most) {
      all.push_back({begin, std::min(begin + most, span.end), span.row});
      ranges.push_back({begin, all.back().end});
    }
  }
  plan_ = ShardPlan(std::move(ranges), shard_.workers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (plan_.owner(i) == shard_.worker) own_.push_back({i, all[i], plan_.place(i)});
  }
}

void Adam::start_average() {
  const at::NoGradGuard no_gradient;
  if (averaged_.defined())
    averaged_.copy_(sharded() ? shard_of(params_.values()) : params_.values());
}

Tensor Adam::shard_of(const Tensor& flat) const {
  Tensor shard = at::empty_like(first_);
  for (const Piece& piece : own_) {
    const std::int64_t size = piece.span.end - piece.span.begin;
    shard.narrow(0, piece.place, size).copy_(flat.narrow(0, piece.span.begin, size));
  }
  return shard;
}

double Adam::norm_of_gradients() const {
  const Tensor& gradients = params_.gradients();
  if (!fast_) return gradients.norm(2, at::kDouble).item<double>();
  const float* data = gradients.const_data_ptr<float>();
  // Every piece's sum apart, then in their order: whoever computes it, the norm has the same bits.
  std::vector<double> sums(plan_.pieces(), 0.0);
  for_pieces(own_.size(), piece_size(gradients.numel()), [&](std::size_t i) {
    const Span& span = own_[i].span;
    sums[own_[i].index] = sum_of_squares(data + span.begin, span.end - span.begin);
  });
  if (sharded()) shard_.add_up(sums);
  double sum = 0;
  for (const double piece : sums) sum += piece;
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
  for_pieces(own_.size(), piece_size(params_.values().numel()),
             [&](std::size_t i) { update_piece(own_[i], factors); });
}

void Adam::update_piece(const Piece& piece, const AdamFactors& factors) {
  const auto& [begin, end, row] = piece.span;
  const AdamBuffers buffers{
      params_.values().mutable_data_ptr<float>() + begin,
      params_.gradients().const_data_ptr<float>() + begin,
      first_.mutable_data_ptr<float>() + piece.place,
      second_.mutable_data_ptr<float>() + piece.place,
      averaged_.defined() ? averaged_.mutable_data_ptr<float>() + piece.place : nullptr};
  if (row == 0) return adam_update(buffers, factors, 0, end - begin);
  for (std::int64_t at = 0; at < end - begin; at += row) {
    all_zero(buffers.gradients + at, row) ? average_only(buffers, factors, at, at + row)
                                          : adam_update(buffers, factors, at, at + row);
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
