// One worker of bench/links.py: the exchange of a base model of 63 million parameters with real
// buffers, codecs and sockets, where computing is only waited for: a third of the time forward,
// then backward, whose gradients become ready in the order and at the moments of a real one.
//
//   bench_links MODE COMPUTE_SECONDS STEPS     under a launcher
//
// MODE: none, flat (a ring over all workers, 2 bytes a number, after backward), exact, int8, int4,
// local, local:H (so many steps between exchanges) or auto. Sums inside a host count as computing,
// but for the modes that exchange gradients. Where weights are exchanged every H steps at least
// four rounds are done. Rank 0 prints the seconds of each step and more as JSON, with those of the
// least passes over the weights that an exchange of all of them costs on this machine's memory.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"
#include "cli/run_team.h"
#include "cli/run_trial.h"
#include "cluster/codec_cost.h"
#include "cluster/link_table_measure.h"
#include "cluster/plan.h"
#include "model/layout.h"
#include "model/step_work.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kVocabulary = 36864;  // with it a base model has 63 million parameters
constexpr std::int64_t kRounds = 4;
constexpr int kPasses = 5;

std::vector<ParamShape> shapes_of_base() {
  std::vector<ParamShape> shapes;
  for (const ParamSpec& spec : model_layout({}, kVocabulary)) {
    shapes.push_back({spec.name, spec.shape});
  }
  return shapes;
}

// As before a run: what codes cost and what the real exchange takes beside them, by rank 0.
void add_software(Team& team, PredictInput& input) {
  measure_codecs(input.software, {.leads = team.world().is_leader()});
  const auto exchange = exchange_trial(team.comm(), team.store(), LinkFormat::bf16);
  const double few = 1 << 14, many = std::clamp(0.1 * input.link.bytes_per_second, 4 * few, 4e6);
  exchange(few);
  const TravelCost cost = cost_from_two(few, exchange(few), many, exchange(many));
  input.software.per_value_seconds = beside_code_and_link(cost, Scheme::exact_bf16, input);
  auto& codecs = input.software.codec_per_value;
  at::Tensor told = at::empty({1 + static_cast<std::int64_t>(codecs.size())}, at::kDouble);
  auto* numbers = told.mutable_data_ptr<double>();
  numbers[0] = input.software.per_value_seconds;
  std::ranges::copy(codecs, numbers + 1);
  team.comm().broadcast(told, Group::world);
  input.software.per_value_seconds = numbers[0];
  std::copy_n(numbers + 1, codecs.size(), codecs.begin());
}

PredictInput input_of(Team& team, double compute, const std::vector<GradientWork>& order) {
  PredictInput input;
  input.facts.compute = compute_of(compute);
  for (const GradientWork& work : order) input.facts.pieces.push_back({work.values, work.done_at});
  input.facts.tokens = 4096.0 * team.world().size();
  input.shape = {team.world().hosts(), team.world().size() / team.world().hosts()};
  const LinkSummary link =
      summary_of(measure_links(team.world(), team.store(), {1.4, 10, "bench/links"}));
  input.link = {link.bytes_per_second, link.rtt_seconds};
  add_software(team, input);
  return input;
}

struct Bench {
  Bench(Team& team_, const std::string& mode, double compute_)
      : team(team_),
        compute(compute_),
        order(gradient_order({}, kVocabulary)),
        params(shapes_of_base(), at::kCPU) {
    if (mode == "none") return;
    if (mode == "flat") {
      flat = at::zeros({params.count()}, at::kBFloat16);
      return;
    }
    ClusterConfig config;
    const std::string name = mode.substr(0, mode.find(':'));
    if (name != mode) config.local_steps = std::stol(mode.substr(name.size() + 1));
    for (std::size_t i = 0; i < names_of(ExchangeMode{}).size(); ++i) {
      if (names_of(ExchangeMode{}).at(i) == name) config.mode = static_cast<ExchangeMode>(i);
    }
    forecast = choose_scheme(input_of(team, compute, order), schemes_of(config, false));
    choice = choose_exchange(config, {}, forecast);
    exchange = team.exchange(params, choice);
    local = team.local_exchange(params, choice, config, 0, {});
  }

  // The last parameter is ready first.
  void backward() {
    const Clock::time_point start = Clock::now();
    if (exchange) exchange->arm();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::chrono::duration<double> at(compute * 2 / 3 * order[i].done_at);
      std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(at));
      if (!exchange || local) continue;
      const at::Tensor& parameter = params.parameter(order.size() - 1 - i);
      (*torch::autograd::impl::post_acc_grad_hooks(parameter))(parameter);
    }
  }

  void step(std::int64_t number) {
    std::this_thread::sleep_for(std::chrono::duration<double>(compute / 3));
    backward();
    if (local) {
      const at::NoGradGuard no_gradient;
      local->before_update();
      local->after_update(number, {false, false, 0, compute});
    } else if (flat.defined()) {
      team.comm().all_reduce(flat);
    } else if (exchange) {
      double totals[1] = {0};
      exchange->finish(totals);
    }
  }

  Team& team;
  double compute;
  std::vector<GradientWork> order;
  FlatParams params;
  at::Tensor flat;
  Prediction forecast;
  ExchangeChoice choice;
  std::unique_ptr<GradExchange> exchange;
  std::unique_ptr<LocalExchange> local;
};

// Processor seconds of this thread: nearly the same on a busy machine.
double own_work() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// The least that an exchange of all weights costs within steps: every worker adds what came back to
// its weights, 12 bytes of memory a number. Processor seconds of one worker, while those of all
// hosts do it or those of one.
double pass_over_weights(Team& team, FlatParams& params, bool every_host) {
  std::vector<double> seconds;
  for (int i = 0; i < kPasses; ++i) {
    team.comm().barrier();
    const double before = own_work();
    if (every_host || team.world().self().host_index == 0) {
      const at::NoGradGuard no_gradient;
      params.values().add_(params.gradients());
    }
    seconds.push_back(own_work() - before);
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

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
    if (bench.local) steps = std::max(steps, kRounds * bench.choice.rhythm.steps);
    team.comm().barrier();
    Json seconds = Json::array(), work = Json::array();
    for (std::int64_t step = 1; step <= steps; ++step) {
      const Clock::time_point start = Clock::now();
      const double before = own_work();
      bench.step(step);
      work.push(own_work() - before);
      seconds.push(std::chrono::duration<double>(Clock::now() - start).count());
    }
    bench.local.reset();
    bench.exchange.reset();
    const double pass = pass_over_weights(team, bench.params, true);
    const double pass_of_one_host = pass_over_weights(team, bench.params, false);
    if (team.world().rank == 0) {
      Json out = Json::object().set("seconds", std::move(seconds)).set("work", std::move(work));
      out.set("parameters", bench.params.count());
      out.set("pass", pass).set("pass_of_one_host", pass_of_one_host);
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
