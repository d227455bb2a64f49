#include "cli/run_trial.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "cluster/grad_exchange.h"
#include "data/batch.h"
#include "train/adam.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kFirstTokens = 64;
constexpr std::int64_t kOptimizerValues = 4 << 20;  // more than caches hold

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Pairs from all over the corpus, up to so many target tokens.
Batch batch_of(const Corpus& corpus, std::int64_t tokens, std::int64_t max_length) {
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
  double tokens = 0, forward = 0, backward = 0;
  double total() const { return forward + backward; }
};

Tried try_batch(Transformer& model, const Batch& batch, const RunConfig& config) {
  Tried tried;
  tried.tokens = static_cast<double>(batch.tgt_out.size());
  const Clock::time_point start = Clock::now();
  const DropoutStep dropout{static_cast<std::uint64_t>(config.seed), 0};
  const LossTerms loss = model.loss(batch, {config.optim.label_smoothing, dropout});
  (void)loss.sum.item<double>();  // a GPU has finished when the number is here
  tried.forward = since(start);
  loss.sum.backward();
  (void)model.params().gradients().narrow(0, 0, 1).item<float>();
  tried.backward = since(start) - tried.forward;
  return tried;
}

// A batch costs fixed + slope * tokens.
struct CostLine {
  CostLine(const Tried& small, const Tried& large, double Tried::*phase) {
    const double steep = large.*phase / large.tokens;  // as if nothing were fixed
    const double measured = (large.*phase - small.*phase) / (large.tokens - small.tokens);
    slope = std::clamp(measured, 0.5 * steep, steep);
    fixed = large.*phase - slope * large.tokens;
  }
  double at(double tokens, double batches) const { return fixed * batches + slope * tokens; }
  double slope = 0, fixed = 0;
};

double try_optimizer(const RunConfig& config, std::int64_t values, at::Device device) {
  const std::int64_t tried = std::min(values, kOptimizerValues);
  FlatParams params({{"trial", {tried}}}, device);
  Adam adam(params, config.optim);
  adam.step(1, 1e-3, 1);  // touches the pages
  const Clock::time_point start = Clock::now();
  adam.step(2, 1e-3, 1);
  (void)params.values().narrow(0, 0, 1).item<float>();
  return since(start) * static_cast<double>(values) / static_cast<double>(tried);
}

}  // namespace

ComputeSeconds try_compute(Transformer& model, const Corpus& corpus, const RunConfig& config,
                           double tokens, double seconds) {
  const std::int64_t most =
      std::min(config.batch.max_tokens_per_micro,
               std::max<std::int64_t>(2 * kFirstTokens, std::llround(tokens)));
  const Clock::time_point start = Clock::now();
  const auto try_size = [&](std::int64_t size) {
    return try_batch(model, batch_of(corpus, size, config.data.max_length), config);
  };
  try_size(kFirstTokens);  // threads, and kernels that are chosen at first use
  // As large as there is time for: the next one is twice as large, and twice the two follow.
  std::int64_t size = 2 * kFirstTokens;
  for (Tried tried = try_size(size); 2 * size <= most && since(start) + 5 * tried.total() < seconds;
       tried = try_size(size)) {
    size *= 2;
  }
  // Only now: the first batch of a size pays for its memory's pages, as training does once.
  const Tried large = try_size(size), small = try_size(size / 2);
  model.params().zero_gradients();

  const double batches = std::ceil(tokens / static_cast<double>(config.batch.max_tokens_per_micro));
  ComputeSeconds compute;
  compute.forward = CostLine(small, large, &Tried::forward).at(tokens, batches);
  compute.backward = CostLine(small, large, &Tried::backward).at(tokens, batches);
  compute.optimizer = try_optimizer(config, model.params().count(), model.params().device());
  compute.micro_batches = std::max<std::int64_t>(1, std::llround(batches));
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
    const Clock::time_point start = Clock::now();
    exchange.finish(totals);
    return since(start);
  };
}

}  // namespace tandem
