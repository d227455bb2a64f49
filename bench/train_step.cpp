// train_step: forward and backward pass of one batch of 4,096 target tokens in target tokens a
// second, by preset and threads, with dropout and label smoothing.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "base/heap.h"
#include "model/sample_batch.h"
#include "model/transformer.h"

namespace {

void train_step(benchmark::State& state) {
  using namespace tandem;
  const auto preset = static_cast<Preset>(state.range(0));
  at::set_num_threads(static_cast<int>(state.range(1)));
  ModelConfig config;
  apply_preset(preset, config);
  config.dropout = 0.1;
  const std::int32_t words = preset == Preset::tiny ? 8000 : 32000;
  Transformer model(config, words, at::kCPU);
  model.initialize(1);
  const Batch batch = sample_batch(preset == Preset::tiny ? 256 : 32, 5, 25, words, 1);
  std::int64_t tokens = 0, step = 0;
  for (auto _ : state) {
    model.params().zero_gradients();
    const LossTerms loss = model.loss(batch, {0.1, DropoutStep{1, step++}});
    loss.sum.backward();
    tokens += loss.tokens;
  }
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
  state.counters["parameters"] = static_cast<double>(model.params().count());
  state.counters["batch_tokens"] = static_cast<double>(batch.tgt_out.size());
}
BENCHMARK(train_step)
    ->ArgNames({"preset", "threads"})
    ->ArgsProduct({{0, 1}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  tandem::keep_freed_memory();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
