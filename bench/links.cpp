// One worker of bench/links.py: the exchange of a model of 63 million parameters with real buffers,
// codecs and sockets, where computing is only waited for.
//
//   bench_links MODE COMPUTE_SECONDS STEPS     under a launcher
//
// MODE: none, flat (a ring over all workers, 2 bytes a number), exact, int8, int4, local or auto.
// Gradients are all ready at the end of the wait; sums inside a host count as computing, but for
// the modes that exchange gradients. Rank 0 prints the seconds of each step and more as JSON.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"
#include "cli/run_team.h"
#include "cluster/link_table_measure.h"
#include "cluster/plan.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kValues = 63'000'000;

void wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

PredictInput input_of(Team& team, double compute) {
  PredictInput input;
  input.facts.compute = compute_of(compute);
  input.facts.pieces = {{kValues, 1}};
  input.facts.tokens = 4096.0 * team.world().size();
  input.shape = {team.world().hosts(), team.world().size() / team.world().hosts()};
  const LinkSummary link =
      summary_of(measure_links(team.world(), team.store(), {1.4, 10, "bench/links"}));
  input.link = {link.bytes_per_second, link.rtt_seconds};
  return input;
}

struct Bench {
  Bench(Team& team_, const std::string& mode_, double compute_)
      : team(team_), mode(mode_), compute(compute_), params({{"all", {kValues}}}, at::kCPU) {
    if (mode == "none") return;
    if (mode == "flat") {
      flat = at::zeros({kValues}, at::kBFloat16);
      return;
    }
    ClusterConfig config;
    for (std::size_t i = 0; i < names_of(ExchangeMode{}).size(); ++i) {
      if (names_of(ExchangeMode{}).at(i) == mode) config.mode = static_cast<ExchangeMode>(i);
    }
    const PredictInput input = input_of(team, compute);
    forecast = choose_scheme(input, schemes_of(config, false));
    choice = choose_exchange(config, {}, forecast);
    exchange = team.exchange(params, choice);
    local = team.local_exchange(params, choice, config, 0);
  }

  void step(std::int64_t number) {
    wait(compute);
    if (local) {
      const at::NoGradGuard no_gradient;
      local->after_update(number, {false, false, 0, compute});
    } else if (flat.defined()) {
      team.comm().all_reduce(flat);
    } else if (exchange) {
      double totals[1] = {0};
      exchange->finish(totals);
    }
  }

  Team& team;
  std::string mode;
  double compute;
  FlatParams params;
  at::Tensor flat;
  Prediction forecast;
  ExchangeChoice choice;
  std::unique_ptr<GradExchange> exchange;
  std::unique_ptr<LocalExchange> local;
};

void run(const std::string& mode, double compute, std::int64_t steps) {
  const StopSignals signals;
  Team team(RunConfig{}, process_environment(), signals.flag());
  team.work([&] {
    Bench bench(team, mode, compute);
    {
      const at::NoGradGuard no_gradient;
      // Something to code: the anchor is still at zero. The same on all: a fixed generator.
      bench.params.values().uniform_(-0.05, 0.05);
      bench.params.gradients().uniform_(-0.05, 0.05);
    }
    team.comm().barrier();
    Json seconds = Json::array();
    for (std::int64_t step = 1; step <= steps; ++step) {
      const Clock::time_point start = Clock::now();
      bench.step(step);
      seconds.push(std::chrono::duration<double>(Clock::now() - start).count());
    }
    bench.local.reset();
    bench.exchange.reset();
    if (team.world().rank == 0) {
      Json out = Json::object().set("seconds", std::move(seconds));
      if (bench.forecast.step_seconds > 0) {
        out.set("chosen", scheme_text(bench.forecast))
            .set("predicted", bench.forecast.step_seconds)
            .set("choice", choice_json(bench.choice));
      }
      std::puts(out.dump().c_str());
    }
    team.leave();
  });
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    tandem::run(argv[1], std::strtod(argv[2], nullptr), std::strtol(argv[3], nullptr, 10));
  } catch (const std::exception& error) {
    std::fputs(tandem::format("bench_links: {}\n", error.what()).c_str(), stderr);
    return 3;
  }
  return 0;
}
