#include "cli/run_trial.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <vector>

#include "cli/run_setup.h"
#include "cluster/grad_exchange.h"
#include "data/batch.h"
#include "model/step_work.h"
#include "train/adam.h"

namespace tandem {
namespace {

constexpr double kFirstTokens = 48;
// Products of fewer rows are slower by the row: what they cost tells little about a step.
constexpr double kTellingTokens = 128;
constexpr double kCheap = 0.1;                      // of the time for all tries
constexpr std::int64_t kOptimizerValues = 4 << 20;  // more than caches hold

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Pairs from all over the corpus, up to so many target tokens.
Batch batch_of(const Mixture& corpus, std::int64_t tokens, std::int64_t max_length) {
  std::vector<std::uint32_t> chosen;
  std::int64_t sum = 0;
  // A step that has no factor in common with most sizes: neighbours come from different places.
  for (std::uint64_t i = 0, at = 0; i < corpus.size() && (sum < tokens || chosen.empty()); ++i) {
    at = (at + 7919) % corpus.size();
    const std::int64_t src = corpus.lengths().src(at) + 1, tgt = corpus.lengths().tgt(at) + 1;
    if (std::max(src, tgt) > max_length) continue;
    chosen.push_back(static_cast<std::uint32_t>(at));
    sum += tgt;
  }
  return pack(corpus, measure_sentences(corpus.lengths(), chosen));
}

struct Tried {
  double flops = 0, forward = 0, backward = 0;
  double total() const { return forward + backward; }
};

Tried try_batch(Transformer& model, const Batch& batch, const RunConfig& config) {
  Tried tried;
  tried.flops =
      step_flops(model.config(), model.vocabulary(), static_cast<double>(batch.src_ids.size()),
                 static_cast<double>(batch.tgt_out.size()));
  const double start = now_seconds();
  const DropoutStep dropout{static_cast<std::uint64_t>(config.seed), 0};
  const LossTerms loss = model.loss(batch, {config.optim.label_smoothing, dropout});
  (void)loss.sum.item<double>();  // a GPU has finished when the number is here
  tried.forward = now_seconds() - start;
  loss.sum.backward();
  (void)model.params().gradients().narrow(0, 0, 1).item<float>();
  tried.backward = now_seconds() - start - tried.forward;
  return tried;
}

// The same batch until the time is over. The first ones pay for their memory's pages: of the later
// half the one in the middle counts.
Tried try_until(Transformer& model, const Batch& batch, const RunConfig& config, double end) {
  std::vector<Tried> tries;
  do {
    tries.push_back(try_batch(model, batch, config));
  } while (tries.size() < 2 || now_seconds() + tries.back().total() < end);
  const std::span<Tried> later = std::span(tries).subspan(tries.size() / 2);
  std::ranges::sort(later, {}, &Tried::total);
  return later[(later.size() - 1) / 2];
}

// One layer on each side tells what six cost, in a sixth of the time.
Transformer thin_model(const Transformer& model, const RunConfig& config) {
  ModelConfig thin = model.config();
  thin.encoder_layers = thin.decoder_layers = 1;
  Transformer made(thin, model.vocabulary(), model.params().device(),
                   compute_type(config.precision));
  made.set_ops(config.ops);
  made.params().values().fill_(0.01);  // any weights take as long
  return made;
}

double try_optimizer(const RunConfig& config, std::int64_t values, at::Device device) {
  const std::int64_t tried = std::min(values, kOptimizerValues);
  FlatParams params({{"trial", {tried}}}, device);
  Adam adam(params, config.optim);
  adam.step(1, 1e-3, 1);  // touches the pages
  const double start = now_seconds();
  adam.step(2, 1e-3, 1);
  (void)params.values().narrow(0, 0, 1).item<float>();
  return (now_seconds() - start) * static_cast<double>(values) / static_cast<double>(tried);
}

}  // namespace

ComputeSeconds try_compute(Transformer& model, const Mixture& corpus, const RunConfig& config,
                           const StepTokens& tokens, double seconds) {
  const auto batch_for = [&](double size) {
    const double most =
        std::min(static_cast<double>(config.batch.max_tokens_per_micro), tokens.tgt);
    return batch_of(corpus, std::llround(std::min(size, most)), config.data.max_length);
  };
  Transformer thin = thin_model(model, config);
  const double end = now_seconds() + seconds;
  const Batch few = batch_for(kFirstTokens);
  // The first one pays for threads and for kernels that are chosen at first use.
  Tried first = try_batch(thin, few, config);
  if (first.total() < kCheap * seconds) first = try_batch(thin, few, config);

  const auto step_work = [&](const Transformer& of) {
    return step_flops(of.config(), of.vocabulary(), tokens.src, tokens.tgt);
  };
  const double left = end - now_seconds();
  const auto tokens_in = [&](double time, const Transformer& of) {
    return time / (first.total() / first.flops * step_work(of)) * tokens.tgt;
  };
  Transformer& chosen = tokens_in(left / 4, model) >= kTellingTokens ? model : thin;
  const double size = std::max(kTellingTokens, tokens_in(left / 5, chosen));
  const Tried tried = try_until(chosen, batch_for(size), config, end);
  model.params().zero_gradients();

  const double scale = step_work(model) / tried.flops;
  ComputeSeconds compute;
  compute.forward = scale * tried.forward;
  compute.backward = scale * tried.backward;
  compute.optimizer = try_optimizer(config, model.params().count(), model.params().device());
  compute.micro_batches = std::max<std::int64_t>(
      1,
      std::llround(std::ceil(tokens.tgt / static_cast<double>(config.batch.max_tokens_per_micro))));
  return compute;
}

std::function<double(double values)> exchange_trial(Comm& comm, LinkFormat format) {
  return [&comm, format](double values) {
    const auto count = static_cast<std::int64_t>(values);
    const at::Tensor gradients =
        at::zeros({count}, at::TensorOptions().device(comm.setting().device));
    ExchangeSetting setting;
    setting.format = format;
    const at::Tensor parameter = at::zeros({1}, gradients.options()).requires_grad_(true);
    GradExchange exchange(comm, gradients, {{parameter, 0, count}}, setting);
    double totals[1] = {0};
    exchange.finish(totals);  // buffers and first pages; and all workers are here
    const double start = now_seconds();
    exchange.finish(totals);
    return now_seconds() - start;
  };
}

}  // namespace tandem
