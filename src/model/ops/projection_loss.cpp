#include "model/ops/projection_loss.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <limits>

#include "model/ops/linear.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kNever = -std::numeric_limits<double>::infinity();

Tensor padding_of(const Tensor& scores, std::int64_t vocabulary) {
  return scores.narrow(1, vocabulary, scores.size(1) - vocabulary);
}

// Scores of 16 MB stay near the caches of a CPU; a GPU wants more work at once.
std::int64_t tokens_a_chunk(std::int64_t words, bool on_cpu) {
  return std::clamp<std::int64_t>((on_cpu ? 4 << 20 : 64 << 20) / words, 64, 1 << 16);
}

struct ChunkedLoss : torch::autograd::Function<ChunkedLoss> {
  static variable_list forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                               const Tensor& targets, const ProjectionSetting& setting,
                               bool with_gradient) {
    const auto exact = hidden.options().dtype(at::kDouble);
    Tensor sum = at::zeros({}, exact), nll = at::zeros({}, exact);
    Tensor hidden_gradient, weight_gradient;
    if (with_gradient) {
      hidden_gradient = at::empty_like(hidden);
      weight_gradient = at::zeros_like(weight);
    }
    const Tensor matrix = weight.to(setting.compute);
    const std::int64_t tokens = hidden.size(0), words = setting.vocabulary;
    const double spread = setting.label_smoothing / static_cast<double>(words);
    const std::int64_t chunk = tokens_a_chunk(weight.size(0), hidden.is_cpu());
    for (std::int64_t begin = 0; begin < tokens; begin += chunk) {
      const std::int64_t size = std::min(chunk, tokens - begin);
      const Tensor part = hidden.narrow(0, begin, size).to(setting.compute);
      const Tensor index = targets.narrow(0, begin, size).to(at::kLong).unsqueeze(1);
      Tensor scores = at::linear(part, matrix).to(at::kFloat);
      padding_of(scores, words).fill_(kNever);
      Tensor logs = at::log_softmax(scores, 1);
      const Tensor part_nll = -logs.gather(1, index).sum(at::kDouble);
      nll += part_nll;
      sum += part_nll * (1.0 - setting.label_smoothing);
      if (spread > 0) sum -= spread * logs.narrow(1, 0, words).sum(1).sum(at::kDouble);
      if (!with_gradient) continue;

      // d loss / d score = p - spread - (1 - e) at the target
      Tensor gradient = logs.exp_();
      if (spread > 0) gradient.sub_(spread);
      padding_of(gradient, words).zero_();
      gradient.scatter_add_(1, index,
                            at::full({size, 1}, setting.label_smoothing - 1.0, gradient.options()));
      gradient = gradient.to(setting.compute);
      hidden_gradient.narrow(0, begin, size).copy_(at::mm(gradient, matrix));
      if (setting.compute == at::kFloat) {
        weight_gradient.addmm_(gradient.t(), part);
      } else {
        weight_gradient.add_(at::mm(gradient.t(), part));
      }
    }
    context->save_for_backward({hidden_gradient, weight_gradient});
    context->mark_non_differentiable({nll});
    return {sum, nll};
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor scale = gradients[0].to(at::kFloat);  // 1, or the loss scale of fp16
    return {saved[0] * scale, saved[1] * scale, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

TokenLoss projection_loss(const Tensor& hidden, const Tensor& weight, const Tensor& targets,
                          const ProjectionSetting& setting) {
  const bool with_gradient =
      at::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const auto both = ChunkedLoss::apply(hidden, weight, targets, setting, with_gradient);
  return {both[0], both[1]};
}

TokenLoss projection_loss_plain(const Tensor& hidden, const Tensor& weight, const Tensor& targets,
                                const ProjectionSetting& setting) {
  const Tensor scores = linear(hidden, weight, {}, setting.compute);
  const Tensor logs = at::log_softmax(scores.narrow(1, 0, setting.vocabulary), 1).to(at::kDouble);
  const Tensor nll = -logs.gather(1, targets.to(at::kLong).unsqueeze(1)).sum();
  const Tensor spread = -logs.mean(1).sum();
  return {nll * (1 - setting.label_smoothing) + spread * setting.label_smoothing, nll.detach()};
}

Tensor log_probabilities(const Tensor& hidden, const Tensor& weight,
                         const ProjectionSetting& setting) {
  const at::NoGradGuard inference;
  const Tensor scores = linear(hidden, weight, {}, setting.compute);
  return at::log_softmax(scores.narrow(1, 0, setting.vocabulary), 1);
}

}  // namespace tandem
