// memorize: trains a model on one batch until it knows it by heart. For tests that need a model
// whose translations mean something, in seconds.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/vocab.h"
#include "model/transformer.h"

namespace tandem {

// Pairs of lines as the loader would pack them.
inline Batch batch_of_lines(const Vocab& vocab, std::span<const std::string> src,
                            std::span<const std::string> tgt) {
  const SpecialIds& special = vocab.special_ids();
  Batch batch;
  batch.src_offsets = batch.tgt_offsets = {0};
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < src.size(); ++i) {
    vocab.encode(src[i], ids);
    batch.src_ids.insert(batch.src_ids.end(), ids.begin(), ids.end());
    batch.src_ids.push_back(special.eos);
    vocab.encode(tgt[i], ids);
    batch.tgt_in.push_back(special.bos);
    batch.tgt_in.insert(batch.tgt_in.end(), ids.begin(), ids.end());
    batch.tgt_out.insert(batch.tgt_out.end(), ids.begin(), ids.end());
    batch.tgt_out.push_back(special.eos);
    batch.src_offsets.push_back(static_cast<std::int32_t>(batch.src_ids.size()));
    batch.tgt_offsets.push_back(static_cast<std::int32_t>(batch.tgt_in.size()));
    batch.places.push_back(static_cast<std::int32_t>(i));
  }
  return batch;
}

// Adam (Kingma and Ba 2015) until the loss is below `enough` a token. Returns the last loss.
inline double memorize(Transformer& model, const Batch& batch, double enough, int most_steps) {
  FlatParams& params = model.params();
  Tensor mean = at::zeros_like(params.values()), square = at::zeros_like(params.values());
  double loss = 0;
  for (int step = 1; step <= most_steps; ++step) {
    params.zero_gradients();
    const LossTerms terms = model.loss(batch, {});
    loss = terms.nll.item<double>() / static_cast<double>(terms.tokens);
    if (loss < enough) break;
    (terms.sum / terms.tokens).backward();
    const at::NoGradGuard no_gradient;
    mean.lerp_(params.gradients(), 0.1);
    square.lerp_(params.gradients().square(), 0.01);
    const Tensor divisor = (square / (1 - std::pow(0.99, step))).sqrt_().add_(1e-8);
    params.values().addcdiv_(mean / (1 - std::pow(0.9, step)), divisor, -0.004);
  }
  return loss;
}

}  // namespace tandem
