#include "model/ops/projection_loss.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/ops/cpu_mask.h"
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

// Scores [n, padded vocabulary] of some tokens and the words behind them, int64 [n]. Turns the
// scores into the gradient of the smoothed sum, p - e / V - (1 - e) at the target, in place.
struct ChunkTerms {
  Tensor nll;     // fp64 scalars
  Tensor spread;  // -log p, mean over the vocabulary
};

ChunkTerms scores_to_gradient(Tensor& scores, const Tensor& targets, std::int64_t words,
                              double smoothing) {
  padding_of(scores, words).fill_(kNever);
  scores = at::log_softmax(scores, 1);
  const Tensor index = targets.unsqueeze(1);
  ChunkTerms terms;
  terms.nll = -scores.gather(1, index).sum(at::kDouble);
  terms.spread = -scores.narrow(1, 0, words).mean(1).sum(at::kDouble);
  scores.exp_().sub_(smoothing / static_cast<double>(words));
  padding_of(scores, words).zero_();
  scores.scatter_add_(1, index, at::full(index.sizes(), smoothing - 1.0, scores.options()));
  return terms;
}

// The same in three passes over a row, while it is in the cache.
ChunkTerms scores_to_gradient_cpu(Tensor& scores, const Tensor& targets, std::int64_t words,
                                  double smoothing) {
  const std::int64_t tokens = scores.size(0), stride = scores.size(1);
  Tensor terms = at::empty({2, tokens}, at::kDouble);
  float* data = scores.mutable_data_ptr<float>();
  double* nll = terms.mutable_data_ptr<double>();
  double* spread = nll + tokens;
  const auto* target = targets.const_data_ptr<std::int64_t>();
  const auto shift = static_cast<float>(-smoothing / static_cast<double>(words));
  at::parallel_for(0, tokens, cpu::rows_a_task(words), [&](std::int64_t begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* row = data + i * stride;
      const float most = rows::largest(row, words);
      const double at_target = row[target[i]];
      const double mean = rows::sum(row, words) / static_cast<double>(words);
      const double total = rows::exp_sum(row, most, words);
      const double log_total = static_cast<double>(most) + std::log(total);
      nll[i] = log_total - at_target;
      spread[i] = log_total - mean;
      rows::scale_shift(row, static_cast<float>(1.0 / total), shift, words);
      row[target[i]] += static_cast<float>(smoothing - 1.0);
      std::fill(row + words, row + stride, 0.0f);
    }
  });
  return {terms[0].sum(), terms[1].sum()};
}

struct ChunkedLoss : torch::autograd::Function<ChunkedLoss> {
  static variable_list forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                               const Tensor& targets, const ProjectionSetting& setting,
                               bool with_gradient) {
    const auto exact = hidden.options().dtype(at::kDouble);
    Tensor spread = at::zeros({}, exact), nll = at::zeros({}, exact);
    Tensor hidden_gradient, weight_gradient;
    if (with_gradient) {
      hidden_gradient = at::empty_like(hidden);
      weight_gradient = at::zeros_like(weight);
    }
    const Tensor matrix = weight.to(setting.compute), words = targets.to(at::kLong);
    QuickMatrix products(matrix);
    const std::int64_t tokens = hidden.size(0);
    const std::int64_t chunk = tokens_a_chunk(weight.size(0), hidden.is_cpu());
    for (std::int64_t begin = 0; begin < tokens; begin += chunk) {
      const std::int64_t size = std::min(chunk, tokens - begin);
      const Tensor part = hidden.narrow(0, begin, size).to(setting.compute);
      Tensor scores = products.turned(part, {}).to(at::kFloat);
      const auto to_gradient = scores.is_cpu() ? scores_to_gradient_cpu : scores_to_gradient;
      const ChunkTerms terms = to_gradient(scores, words.narrow(0, begin, size), setting.vocabulary,
                                           setting.label_smoothing);
      nll += terms.nll;
      spread += terms.spread;
      if (!with_gradient) continue;
      const Tensor gradient = scores.to(setting.compute);
      hidden_gradient.narrow(0, begin, size).copy_(products.straight(gradient));
      if (setting.compute == at::kFloat) {
        add_turned_product(weight_gradient, gradient, part);
      } else {
        weight_gradient.add_(at::mm(gradient.t(), part));
      }
    }
    context->save_for_backward({hidden_gradient, weight_gradient});
    context->mark_non_differentiable({nll});
    const double smoothing = setting.label_smoothing;
    return {nll * (1 - smoothing) + spread * smoothing, nll};
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor scale = gradients[0].to(at::kFloat);  // 1, or the loss scale of fp16
    if (scale.is_cpu() && scale.item<float>() == 1) {
      return {saved[0], saved[1], Tensor(), Tensor(), Tensor()};
    }
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
  const Tensor scores = linear_plain(hidden, weight, {}, setting.compute);
  const Tensor logs = at::log_softmax(scores.narrow(1, 0, setting.vocabulary), 1).to(at::kDouble);
  const Tensor nll = -logs.gather(1, targets.to(at::kLong).unsqueeze(1)).sum();
  const Tensor spread = -logs.mean(1).sum();
  return {nll * (1 - setting.label_smoothing) + spread * setting.label_smoothing, nll.detach()};
}

Tensor log_softmax_rows(Tensor scores, std::int64_t vocabulary) {
  const at::NoGradGuard inference;
  Tensor of_words = scores.narrow(1, 0, vocabulary);
  if (!scores.is_cpu()) return at::log_softmax(of_words, 1);
  const std::int64_t stride = scores.size(1), words = vocabulary;
  float* data = scores.mutable_data_ptr<float>();
  at::parallel_for(0, scores.size(0), cpu::rows_a_task(words), [&](std::int64_t begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* row = data + i * stride;
      const float most = rows::largest(row, words);
      const double total = std::log(rows::sum_of_exp(row, most, words)) + static_cast<double>(most);
      rows::scale_shift(row, 1.0f, static_cast<float>(-total), words);
    }
  });
  return of_words;
}

}  // namespace tandem
