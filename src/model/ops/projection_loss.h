// projection_loss: hidden states to vocabulary scores to label-smoothed cross-entropy, as sums.
// The matrix has rows beyond the vocabulary (padding to a multiple); their scores count as minus
// infinity: such a word is never predicted, gets no share of the smoothing, and its row no
// gradient.
#pragma once

#include <cstdint>

#include "model/tensor.h"

namespace tandem {

struct TokenLoss {
  Tensor sum;  // fp64 scalar, with gradient: sum over tokens of (1 - e) nll + e mean over words
  Tensor nll;  // fp64 scalar, without: the same for e = 0, what validation reports
};

struct ProjectionSetting {
  std::int64_t vocabulary = 0;  // words; the rest of the matrix is padding
  double label_smoothing = 0;
  at::ScalarType compute = at::kFloat;
};

// hidden [N, D], weight [padded vocabulary, D], targets int32 [N].
// Scores exist only for some hundred tokens at a time, and the gradients are computed along with
// the loss: scores of a whole batch would be the largest piece of memory of a step.
TokenLoss projection_loss(const Tensor& hidden, const Tensor& weight, const Tensor& targets,
                          const ProjectionSetting& setting);
TokenLoss projection_loss_plain(const Tensor& hidden, const Tensor& weight, const Tensor& targets,
                                const ProjectionSetting& setting);

// scores [N, padded vocabulary] to the log of the probability of each word, [N, vocabulary]; no
// gradient. On the CPU in place: the result is a view.
Tensor log_softmax_rows(Tensor scores, std::int64_t vocabulary);

}  // namespace tandem
