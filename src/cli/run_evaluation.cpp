#include "cli/run_evaluation.h"

#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "base/text_file.h"
#include "translate/evaluate.h"

namespace tandem {
namespace {

constexpr std::size_t kTrainPairs = 2000;  // enough for a loss within a percent or two

std::vector<std::string> first_lines(const fs::path& path, std::size_t most) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; lines.size() < most && reader.next(line);) lines.emplace_back(line);
  return lines;
}

struct ValidText {
  std::vector<std::string> sources, references;
  std::vector<std::size_t> shown;  // the lines that serve as samples
};

ValidText valid_text(const RunConfig& config) {
  const fs::path folder = config.data.path;
  const auto most = static_cast<std::size_t>(
      config.eval.sentences.value_or(std::numeric_limits<std::int64_t>::max()));
  ValidText text{
      first_lines(folder / "valid.src.txt", most), first_lines(folder / "valid.tgt.txt", most), {}};
  text.shown = sample_lines(text.sources.size(), static_cast<std::size_t>(config.eval.samples));
  return text;
}

TranslateSettings translate_settings(const RunConfig& config, std::size_t threads) {
  TranslateSettings settings;
  settings.search = {config.eval.beam, config.eval.alpha, 1, config.eval.extra_decode_steps};
  settings.max_length = config.data.max_length;
  settings.threads = threads;
  return settings;
}

}  // namespace

Evaluate evaluation_of(const RunConfig& config, const Dataset& data, std::size_t threads) {
  const std::int64_t longest = config.model.max_positions;
  const std::int64_t at_once = config.batch.max_tokens_per_micro;
  auto valid = spread_pairs(data.valid.lengths(), longest, data.valid.size());
  auto train = spread_pairs(data.train.lengths(), longest, std::min(valid.size(), kTrainPairs));
  if (valid.empty() || train.empty()) {
    throw UserError(format("{}: no pair is short enough for model.max_positions={}",
                           config.data.path, longest));
  }
  auto [sources, references, shown] = valid_text(config);
  const TranslateSettings settings = translate_settings(config, threads);

  return [=, sources = std::move(sources), references = std::move(references),
          shown = std::move(shown), &data](const Transformer& model, std::int64_t) {
    EvalResult result;
    result.val_loss = loss_of_pairs(model, data.valid, valid, at_once, threads).mean();
    result.train_loss = loss_of_pairs(model, data.train, train, at_once, threads).mean();
    const EvalScores scores =
        evaluate_translations(model, *data.vocab, sources, references, settings);
    result.bleu = scores.bleu.score;
    result.chrf = scores.chrf;
    for (const std::size_t line : shown) {
      result.samples.push_back({sources[line], references[line], scores.hypotheses[line]});
    }
    return result;
  };
}

Sample samples_of(const RunConfig& config, const Dataset& data, std::size_t threads) {
  const ValidText text = valid_text(config);
  std::vector<std::string> sources;
  for (const std::size_t line : text.shown) sources.push_back(text.sources[line]);
  return [text, sources, settings = translate_settings(config, threads),
          &data](const Transformer& model) {
    const auto hypotheses = best_texts(translate_lines(model, *data.vocab, sources, settings));
    std::vector<SampleTranslation> samples;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      samples.push_back({sources[i], text.references[text.shown[i]], hypotheses[i]});
    }
    return samples;
  };
}

}  // namespace tandem
