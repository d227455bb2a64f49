#include "cli/run_trial.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <vector>

#include "base/format.h"
#include "cli/run_setup.h"
#include "cluster/batch_cost.h"
#include "cluster/grad_exchange.h"
#include "cluster/host_memory.h"
#include "data/batch.h"
#include "model/step_work.h"
#include "train/adam.h"

namespace tandem {
namespace {

constexpr double kFirstTokens = 24;
// Products of fewer rows are slower by the row: what they cost tells little about a step.
constexpr double kTellingTokens = 144;
constexpr std::chrono::minutes kForMemory{1};
constexpr std::int64_t kLeastWords = 512;           // of a thin model
constexpr double kCheap = 0.1;                      // of the time for all tries
constexpr std::int64_t kOptimizerValues = 2 << 20;  // with its moments more than caches hold

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Pairs from all over the corpus, up to so many target tokens; words beyond the vocabulary are told
// as others.
Batch batch_of(const Mixture& corpus, std::int64_t tokens, std::int64_t max_length,
               std::int64_t vocabulary) {
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
  Batch batch = pack(corpus, measure_sentences(corpus.lengths(), chosen));
  for (std::vector<std::int32_t>* ids : {&batch.src_ids, &batch.tgt_in, &batch.tgt_out}) {
    for (std::int32_t& id : *ids) id %= static_cast<std::int32_t>(vocabulary);
  }
  return batch;
}

// What computing itself takes: on a processor its time, without what other workers on the same
// cores took in between; on a GPU the time that passes.
double worked_seconds(at::Device device) {
  if (!device.is_cpu()) return now_seconds();
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

struct Tried {
  double flops = 0, forward = 0, backward = 0;  // seconds of work
  double passed = 0;                            // seconds on the clock
  double worked() const { return forward + backward; }
};

Tried try_batch(Transformer& model, const Batch& batch, const RunConfig& config) {
  Tried tried;
  tried.flops =
      step_flops(model.config(), model.vocabulary(), static_cast<double>(batch.src_ids.size()),
                 static_cast<double>(batch.tgt_out.size()));
  const at::Device device = model.params().device();
  const double begin = now_seconds(), start = worked_seconds(device);
  const DropoutStep dropout{static_cast<std::uint64_t>(config.seed), 0};
  const LossTerms loss = model.loss(batch, {config.optim.label_smoothing, dropout});
  (void)loss.sum.item<double>();  // a GPU has finished when the number is here
  tried.forward = worked_seconds(device) - start;
  loss.sum.backward();
  (void)model.params().gradients().narrow(0, 0, 1).item<float>();
  tried.backward = worked_seconds(device) - start - tried.forward;
  tried.passed = now_seconds() - begin;
  return tried;
}

// Pages touched for the first time and neighbours in the caches only add: a third of the tries may
// be better than the one that counts.
Tried usual_of(std::vector<Tried>& tries) {
  std::ranges::sort(tries, {}, &Tried::worked);
  return tries[(tries.size() - 1) / 3];
}

struct Trials {
  BatchCost forward, backward;
  double stretch = 1;  // seconds on the clock for a second of work: cores may be shared
};

// Two batches in turn until the time is over. Who has the core when is chance in one try, not over
// all.
Trials try_until(Transformer& model, const Batch& small, const Batch& large,
                 const RunConfig& config, double end) {
  std::vector<Tried> few, many;
  double passed = 0, worked = 0;
  const auto once = [&](const Batch& batch, std::vector<Tried>& tries) {
    const Tried& tried = tries.emplace_back(try_batch(model, batch, config));
    passed += tried.passed;
    worked += tried.worked();
  };
  once(large, many);
  do {
    once(small, few);
    once(large, many);
  } while (now_seconds() + few.back().passed + many.back().passed < end);
  const Tried a = usual_of(few), b = usual_of(many);
  const auto weights = static_cast<double>(model.params().count());
  return {cost_of({a.flops, a.forward}, {b.flops, b.forward}, weights),
          cost_of({a.flops, a.backward}, {b.flops, b.backward}, weights),
          passed / std::max(worked, 1e-9)};
}

// One layer on each side and a sixth of the words tell what six layers and all words cost, in a
// sixth of the time.
Transformer thin_model(const Transformer& model, const RunConfig& config) {
  ModelConfig thin = model.config();
  const std::int64_t layers =
      std::max<std::int64_t>(1, std::max(thin.encoder_layers, thin.decoder_layers));
  thin.encoder_layers = thin.decoder_layers = 1;
  const std::int64_t words = std::max(model.vocabulary() / layers, kLeastWords) / 8 * 8;
  Transformer made(thin, std::min(words, model.vocabulary()), model.params().device(),
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
  const double start = worked_seconds(device);
  adam.step(2, 1e-3, 1);
  (void)params.values().narrow(0, 0, 1).item<float>();
  return (worked_seconds(device) - start) * static_cast<double>(values) /
         static_cast<double>(tried);
}

}  // namespace

ComputeSeconds try_compute(Transformer& model, const Mixture& corpus, const RunConfig& config,
                           const StepTokens& tokens, double seconds) {
  const auto batch_for = [&](double size, const Transformer& of) {
    const double most =
        std::min(static_cast<double>(config.batch.max_tokens_per_micro), tokens.tgt);
    return batch_of(corpus, std::llround(std::min(size, most)), config.data.max_length,
                    of.vocabulary());
  };
  const double end = now_seconds() + seconds;
  Transformer thin = thin_model(model, config);
  const Batch few = batch_for(kFirstTokens, thin);
  // The first one pays for threads and for kernels that are chosen at first use.
  Tried first = try_batch(thin, few, config);
  if (first.passed < kCheap * seconds) first = try_batch(thin, few, config);

  const auto step_work = [&](const Transformer& of) {
    return step_flops(of.config(), of.vocabulary(), tokens.src, tokens.tgt);
  };
  const double left = end - now_seconds();
  const auto tokens_in = [&](double time, const Transformer& of) {
    return time / (first.passed / first.flops * step_work(of)) * tokens.tgt;
  };
  Transformer& chosen = tokens_in(left / 4, model) >= kTellingTokens ? model : thin;
  const double size = std::max(kTellingTokens, tokens_in(left / 6, chosen));
  const Trials trials =
      try_until(chosen, batch_for(size / 4, chosen), batch_for(size, chosen), config, end);
  if (&chosen == &model) model.params().zero_gradients();

  ComputeSeconds compute;
  compute.micro_batches = std::max<std::int64_t>(
      1,
      std::llround(std::ceil(tokens.tgt / static_cast<double>(config.batch.max_tokens_per_micro))));
  const double weights = static_cast<double>(compute.micro_batches * model.params().count());
  compute.forward = trials.stretch * trials.forward.of(weights, step_work(model));
  compute.backward = trials.stretch * trials.backward.of(weights, step_work(model));
  compute.optimizer =
      trials.stretch * try_optimizer(config, model.params().count(), model.params().device());
  return compute;
}

std::function<double(double values)> exchange_trial(Comm& comm, Store& store, LinkFormat format) {
  return [&comm, &store, format, trial = 0](double values) mutable {
    const auto count = static_cast<std::int64_t>(values);
    at::Tensor gradients = at::zeros({count}, at::TensorOptions().device(comm.setting().device));
    ExchangeSetting setting;
    setting.format = format;
    std::unique_ptr<HostMemory> memory;  // where training has it, too
    if (gradients.device().is_cpu() && comm.size(Group::host) > 1) {
      memory = HostMemory::share(store, comm.world(), static_cast<std::size_t>(count), kForMemory,
                                 tandem::format("trial {}/", ++trial));
    }
    if (memory) gradients = at::from_blob(memory->floats(memory->place()).data(), {count});
    setting.memory = memory.get();
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
