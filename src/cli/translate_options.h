// translate_options: the options that translate and evaluate share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cores.h"
#include "cli/args.h"
#include "translate/translation_model.h"

namespace tandem {

struct TranslateOptions {
  std::string model, device = "auto", weights = "float32";
  std::int64_t beam = 0, batch_tokens = TranslateSettings{}.batch_tokens;
  std::optional<double> alpha;  // none: the model's
  std::int64_t threads = usable_cores();
};

void add_translate_options(Verb& verb, TranslateOptions& options);

TranslationModel open_model(const TranslateOptions& options);

// What the model was evaluated with in training, and what the options say otherwise.
TranslateSettings settings_of(const TranslationModel& model, const TranslateOptions& options);

}  // namespace tandem
