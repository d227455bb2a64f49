#include "cli/run_evaluation.h"

#include <limits>
#include <optional>

#include "base/error.h"
#include "base/format.h"
#include "base/text_file.h"
#include "cluster/comm_text.h"
#include "model/decode/decoder.h"
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
      first_lines(folder / kValidSources, most), first_lines(folder / kValidReferences, most), {}};
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

RankSlot slot_of(const Comm& comm) {
  return {static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size())};
}

// The validation pairs that the model has positions for.
std::vector<std::uint32_t> pairs_to_judge(const RunConfig& config, const Dataset& data) {
  return spread_pairs(data.valid.lengths(), config.model.max_positions, data.valid.size());
}

struct Stopped {};

// This worker's part of work that all share. When one of them stops, all do.
template <class Part>
auto part_of_all(Comm& comm, Part part) {
  std::optional<decltype(part())> own;
  try {
    own = part();
  } catch (const Stopped&) {
  }
  const Tensor stopped = at::full({1}, own ? 0.0 : 1.0);
  comm.all_reduce(stopped);
  if (stopped.item<float>() > 0) throw Stopped();
  return *std::move(own);
}

// The mean over all pairs. Sums of batches are added in their order, so the number of workers does
// not change a bit of it.
double mean_loss(const Transformer& model, const Mixture& corpus,
                 std::span<const std::uint32_t> pairs, std::int64_t at_once, std::size_t threads,
                 Comm& comm, const std::function<void()>& look) {
  auto batches = part_of_all(comm, [&] {
    return loss_of_batches(model, corpus, pairs, at_once, threads, slot_of(comm), look);
  });
  const auto count = static_cast<std::int64_t>(batches.size());
  const Tensor losses = at::zeros({count}, at::kDouble), tokens = at::zeros({count}, at::kLong);
  for (std::int64_t i = 0; i < count; ++i) {
    losses[i] = batches[static_cast<std::size_t>(i)].nll;
    tokens[i] = batches[static_cast<std::size_t>(i)].tokens;
  }
  comm.all_reduce(losses);  // each has one part that is not zero
  comm.all_reduce(tokens);
  for (std::int64_t i = 0; i < count; ++i) {
    batches[static_cast<std::size_t>(i)] = {losses[i].item<double>(),
                                            tokens[i].item<std::int64_t>()};
  }
  return sum_of(batches).mean();
}

// Every worker translates the lines of its turn; afterwards all have all.
std::vector<std::string> translate_together(const Transformer& model, const Vocab& vocab,
                                            const std::vector<std::string>& sources,
                                            const TranslateSettings& settings, Comm& comm) {
  const auto [rank, workers] = slot_of(comm);
  std::vector<std::string> own;
  for (std::size_t i = rank; i < sources.size(); i += workers) own.push_back(sources[i]);
  std::string joined;
  const auto translated =
      part_of_all(comm, [&] { return translate_lines(model, vocab, own, settings); });
  for (const std::string& text : best_texts(translated)) {
    joined += text + "\n";  // a translation has no line ends
  }
  const auto parts = texts_of_all(comm, joined);
  std::vector<std::string> all;
  std::vector<std::size_t> begin(parts.size(), 0);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string& part = parts[i % workers];
    std::size_t& at = begin[i % workers];
    const std::size_t end = part.find('\n', at);
    check(end != std::string::npos, "a worker translated too few lines");
    all.push_back(part.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

}  // namespace

Evaluate evaluation_of(const RunConfig& config, const Dataset& data, std::size_t threads,
                       Comm& comm, std::function<bool()> stop) {
  const std::int64_t at_once = config.batch.max_tokens_per_micro;
  auto valid = pairs_to_judge(config, data);
  if (valid.empty()) {
    throw UserError(format("{}: no validation pair is short enough for model.max_positions={}",
                           config.data.path, config.model.max_positions));
  }
  // Pairs that are trained on: longer ones would be judged like unseen ones.
  auto train = spread_pairs(data.train.lengths(), config.data.max_length,
                            std::min(valid.size(), kTrainPairs));
  if (train.empty()) {
    throw UserError(format("{}: no training pair is short enough for data.max_length={}",
                           config.data.path, config.data.max_length));
  }
  auto [sources, references, shown] = valid_text(config);
  const auto look = [stop = std::move(stop)] {
    if (stop()) throw Stopped();
  };
  TranslateSettings settings = translate_settings(config, threads);
  settings.on_progress = [look](std::size_t) { look(); };

  const auto judge = [=, sources = std::move(sources), references = std::move(references),
                      shown = std::move(shown), &data, &comm](const Transformer& model) {
    EvalResult result;
    result.val_loss = mean_loss(model, data.valid, valid, at_once, threads, comm, look);
    result.train_loss = mean_loss(model, data.train, train, at_once, threads, comm, look);
    const EvalScores scores = score_translations(
        translate_together(model, *data.vocab, sources, settings, comm), references, threads);
    result.bleu = scores.bleu.score;
    result.chrf = scores.chrf;
    for (const std::size_t line : shown) {
      result.samples.push_back({sources[line], references[line], scores.hypotheses[line]});
    }
    return result;
  };
  return [judge](const Transformer& model, std::int64_t) -> std::optional<EvalResult> {
    try {
      return judge(model);
    } catch (const Stopped&) {
      return {};
    }
  };
}

std::optional<std::string> left_out_warning(const RunConfig& config, const Dataset& data) {
  const std::size_t left_out = data.valid.size() - pairs_to_judge(config, data).size();
  if (left_out == 0) return {};
  return format("{} validation pair{} longer than model.max_positions={} and left out of the loss",
                left_out, left_out == 1 ? " is" : "s are", config.model.max_positions);
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
