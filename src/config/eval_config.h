// eval_config: when and how the model is judged during training.
#pragma once

#include <cstdint>
#include <optional>

#include "config/option.h"

namespace tandem {

struct EvalConfig {
  std::int64_t every = 4000;
  std::optional<std::int64_t> sentences;
  std::int64_t beam = 4;
  double alpha = 0.6;
  std::int64_t extra_decode_steps = 50;
  std::int64_t samples = 1;
  std::int64_t sample_every = 0;
};

template <class Visitor>
void describe(Visitor&& option, EvalConfig& c) {
  option("every", c.every, at_least(0), "steps",
         "steps between evaluations (loss, BLEU, chrF); 0: only at the end");
  option("sentences", c.sentences, at_least(1), "sentences",
         "the first sentences of the validation set to translate for BLEU; null: all");
  option("beam", c.beam, between(1, 256), "hypotheses", "width of the beam search; 1 is greedy");
  option("alpha", c.alpha, between(0, 10), "",
         "length penalty: scores are divided by ((5 + length) / 6)^alpha");
  option("extra_decode_steps", c.extra_decode_steps, between(1, 1 << 20), "tokens",
         "a translation ends at the source's length plus this");
  option("samples", c.samples, between(0, 100), "sentences",
         "translations shown at each evaluation and every sample_every steps");
  option("sample_every", c.sample_every, at_least(0), "steps",
         "steps between samples besides those of the evaluations; 0: none");
}

}  // namespace tandem
