#include "cli/translate_options.h"

#include "base/heap.h"

namespace tandem {

void add_translate_options(Verb& verb, TranslateOptions& options) {
  verb.option("--model", options.model,
              "model folder, or the directory of a run (its model/, else its best)", true);
  verb.option("--beam", options.beam,
              "hypotheses followed at a time; 1: greedy; 0: the model's eval.beam (4 if it was not "
              "set)",
              0, 256);
  verb.option(
      "--alpha", options.alpha,
      "length penalty, scores are divided by ((5 + length) / 6)^alpha; default: the model's "
      "eval.alpha (0.6 if it was not set)",
      0, 10);
  verb.option("--batch-tokens", options.batch_tokens,
              "source tokens translated at a time by each thread", 1, 1 << 24);
  verb.option("--threads", options.threads, "threads; the result does not depend on it", 1, 1024);
  verb.choice("--device", options.device, {"auto", "cpu", "cuda"}, "where to compute");
  verb.choice("--weights", options.weights, {"float32", "int8"},
              "numbers that the model's matrices are rounded to; int8 is faster on the CPU and "
              "changes few words");
}

TranslationModel open_model(const TranslateOptions& options) {
  keep_freed_memory();
  const auto names = names_of(DeviceChoice{});
  const auto place = std::ranges::find(names, options.device) - names.begin();
  return open_translation_model(options.model, static_cast<DeviceChoice>(place),
                                options.weights == "int8" ? DecodeWay::int8 : DecodeWay::quick);
}

TranslateSettings settings_of(const TranslationModel& model, const TranslateOptions& options) {
  TranslateSettings settings = model.settings();
  if (options.beam > 0) settings.search.beam = options.beam;
  if (options.alpha) settings.search.alpha = *options.alpha;
  settings.batch_tokens = options.batch_tokens;
  settings.threads = static_cast<std::size_t>(options.threads);
  return settings;
}

}  // namespace tandem
