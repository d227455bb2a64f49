// bench_loader: how fast training data is opened, planned, cut and packed, on a dataset as large as
// WMT14 English-German. Prints one JSON object; bench/loader.py holds it against the limits.
// bench_loader DATA: the loader on a real dataset, with its own subwords and with sampled ones.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/temporary_folder.h"
#include "data/corpus.h"
#include "data/corpus_writer.h"
#include "data/loader.h"
#include "data/sample_lengths.h"

namespace tandem {
namespace {

constexpr std::size_t kPairs = 4'560'000;
constexpr std::int64_t kBatchTokens = 25000, kMaxLength = 256;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads together: what the work would take on one core.
double cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double status_mb(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kb = 0;
    if (word == key + ":" && status >> kb) return kb / 1024;
  }
  return 0;
}

PlanInput plan_input(std::uint64_t fingerprint) {
  return {fingerprint, 1, 0, {BatchUnit::tokens, kBatchTokens, kMaxLength}};
}

// The lengths lie in memory already, so what the peak grows by is the plan's own.
void measure_plan(PairLengths lengths, Json& result) {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  const double before_mb = status_mb("VmRSS"), start = now_s();
  const BatchPlan plan(lengths, plan_input(7));
  result.set("plan_s", now_s() - start).set("plan_mb", status_mb("VmHWM") - before_mb);

  double worst = 0, sum = 0, squares = 0;
  const std::size_t batches = plan.batches() - 1;  // the last one is small
  for (std::size_t b = 0; b < batches; ++b) {
    double tokens = 0, heaviest = 0, cost = 0;
    for (const auto& part : split_by_cost(measure_sentences(lengths, plan.batch(b)), 8)) {
      double part_cost = 0;
      for (const auto& sentence : part) {
        tokens += sentence.tgt_tokens;
        part_cost += static_cast<double>(sentence.cost);
      }
      cost += part_cost;
      heaviest = std::max(heaviest, part_cost);
    }
    worst = std::max(worst, heaviest * 8 / cost);
    sum += tokens;
    squares += tokens * tokens;
  }
  const double mean = sum / static_cast<double>(batches);
  result.set("batches", batches + 1)
      .set("left_out", plan.left_out())
      .set("tokens_mean", mean)
      .set("tokens_deviation", std::sqrt(squares / static_cast<double>(batches) - mean * mean))
      .set("balance_worst", worst);
}

void write_dataset(const fs::path& folder, PairLengths lengths) {
  std::vector<std::int32_t> ids(1 << 20);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::int32_t>(4 + bounded(random_bits(3, 0, i), 31990));
  }
  CorpusWriter writer(folder, "train", {{0, 1, 2, 3}, 32000, 1});
  std::size_t at = 0;
  const auto stretch = [&](std::size_t length) {
    at = (at + 61) % (ids.size() - 1000);
    return std::span<const std::int32_t>(ids).subspan(at, length);
  };
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto src = stretch(lengths.src(i));
    writer.add(src, stretch(lengths.tgt(i)));
  }
  writer.finish();
}

LoaderSetting loader_setting(std::size_t world) {
  LoaderSetting setting;
  setting.seed = 1;
  setting.batch = plan_input(0).batch;
  setting.cut.slot = {0, world};
  return setting;
}

// Target tokens that this worker gets for one second of one core.
double measure_rate(const Corpus& corpus, const LoaderSetting& setting, int steps) {
  Loader loader(corpus, setting, {});
  for (int i = 0; i < 50; ++i) loader.next();  // beyond the plans of two epochs
  const double start = cpu_s();
  std::size_t tokens = 0;
  for (int i = 0; i < steps; ++i) {
    for (const Batch& batch : loader.next().micro) tokens += batch.tgt_out.size();
  }
  return static_cast<double>(tokens) / (cpu_s() - start);
}

// The longest that a trainer with steps of step_s waits while it passes the end of an epoch.
double measure_border_wait(const Corpus& corpus, double step_s) {
  const BatchPlan plan(corpus.lengths(), plan_input(corpus.fingerprint()));
  Loader loader(corpus, loader_setting(1), {0, static_cast<std::int64_t>(plan.batches()) - 20});
  loader.next();  // the first step waits for the first plan
  double longest = 0;
  for (int i = 0; i < 40; ++i) {
    std::this_thread::sleep_for(std::chrono::duration<double>(step_s));
    const double start = now_s();
    loader.next();
    longest = std::max(longest, now_s() - start);
  }
  return longest;
}

void run_sampling(const fs::path& dataset) {
  const Corpus corpus(dataset, "train");
  LoaderSetting setting = loader_setting(1);
  Json result = Json::object();
  result.set("tokens_per_s", measure_rate(corpus, setting, 100));
  setting.vocab = Vocab::load(dataset / "vocab.model");
  setting.sampling.emplace(0.1);
  result.set("tokens_per_s_sampled", measure_rate(corpus, setting, 100));
  std::puts(result.dump(2).c_str());
}

void run() {
  Json result = Json::object();
  result.set("pairs", kPairs);
  const TemporaryFolder folder;
  {
    const auto bounds = sample_bounds(kPairs, 1);
    measure_plan(PairLengths(bounds), result);
    write_dataset(folder.path(), PairLengths(bounds));
  }
  const double start = now_s();
  const Corpus corpus(folder.path(), "train");
  result.set("open_s", now_s() - start)
      .set("tokens_per_s", measure_rate(corpus, loader_setting(1), 2000))
      .set("tokens_per_s_one_of_8", measure_rate(corpus, loader_setting(8), 2000))
      .set("border_wait_s", measure_border_wait(corpus, 0.1));
  std::puts(result.dump(2).c_str());
}

}  // namespace
}  // namespace tandem

int main(int count, char** arguments) {
  try {
    count > 1 ? tandem::run_sampling(arguments[1]) : tandem::run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_loader: %s\n", error.what());
    return 3;
  }
}
