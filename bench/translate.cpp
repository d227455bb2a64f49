// translate: sentences a second of beam search on the CPU, tiny model (4 + 4 layers of 128) with
// 8,000 words, by beam and threads. The weights are random, so the length limit ends each
// translation: it has two tokens more than its source (3 to 28, 14 on average), and all hypotheses
// live to the end.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "base/rng.h"
#include "model/decode/decoder.h"
#include "model/transformer.h"
#include "translate/batch_workers.h"
#include "translate/beam_search.h"

namespace {

using namespace tandem;
using Sources = std::vector<std::vector<std::int32_t>>;

constexpr std::int32_t kWords = 8000;
constexpr std::size_t kSentences = 512;

// Batches of sentences of similar length, each of about as many tokens.
std::vector<Sources> batches_of(std::size_t batch_tokens) {
  Sources all(kSentences);
  for (std::uint64_t i = 0; i < kSentences; ++i) {
    const auto draw = [&](std::uint64_t at, std::uint64_t bound) {
      return bounded(random_bits(1, i, at), bound);
    };
    all[i].resize(2 + draw(0, 13) + draw(1, 13));
    for (std::size_t k = 0; k < all[i].size(); ++k) {
      all[i][k] = static_cast<std::int32_t>(4 + draw(2 + k, kWords - 4));
    }
  }
  std::ranges::sort(all, std::ranges::greater{}, &std::vector<std::int32_t>::size);
  std::vector<Sources> batches;
  std::size_t tokens = batch_tokens;
  for (auto& source : all) {
    if (tokens + source.size() > batch_tokens) {
      batches.emplace_back();
      tokens = 0;
    }
    tokens += source.size();
    batches.back().push_back(std::move(source));
  }
  return batches;
}

void translate(benchmark::State& state) {
  ModelConfig config;
  apply_preset(Preset::tiny, config);
  Transformer model(config, kWords, at::kCPU);
  model.initialize(1);
  const Decoder decoder(model);
  const SearchSettings settings{state.range(0), 0.6, 1, 2};
  const auto batches = batches_of(static_cast<std::size_t>(state.range(2)));
  for (auto _ : state) {
    for_each_batch(
        batches.size(), static_cast<std::size_t>(state.range(1)), at::kCPU,
        [&](std::size_t i) {
          benchmark::DoNotOptimize(beam_search(decoder, {0, 1, 2, 3}, batches[i], settings));
        },
        [](std::size_t) {});
  }
  state.counters["sentences/s"] =
      benchmark::Counter(static_cast<double>(kSentences) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(translate)
    ->ArgNames({"beam", "threads", "batch_tokens"})
    ->Args({1, 1, 1024})
    ->Args({4, 1, 256})
    ->Args({4, 1, 1024})
    ->Args({4, 1, 4096})
    ->Args({4, 2, 1024})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
