#include "cli/run_exchange.h"

#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "cluster/comm_text.h"
#include "config/choice.h"
#include "config/exchange_limits.h"
#include "train/begin_anew.h"
#include "train/host_part.h"

namespace tandem {
namespace {

// A resumed run whose way was chosen before the setting.
std::string shard_refusal(const RunConfig& config, ExchangeMode mode) {
  if (!config.optim.shard || mode == ExchangeMode::exact) return {};
  return format(
      "optim.shard=true does not go with the exchange that this run began with, {}; set "
      "cluster.mode=exact or optim.shard=false",
      name_of(mode));
}

std::string delay_refusal(const ClusterConfig& cluster) {
  if (!cluster.local_steps || !cluster.local_delay) return {};
  if (*cluster.local_delay <= *cluster.local_steps) return {};
  return format(
      "cluster.local_delay={} is more than cluster.local_steps={}: an exchange would still be "
      "under way when the next one begins; set local_delay to {} or less",
      *cluster.local_delay, *cluster.local_steps, *cluster.local_steps);
}

}  // namespace

void refuse_what_does_not_go(const RunConfig& config, ExchangeMode mode) {
  const std::string local = mode == ExchangeMode::local ? local_refusal(config) : "";
  for (const std::string& refusal :
       {local, shard_refusal(config, mode), delay_refusal(config.cluster)}) {
    if (!refusal.empty()) throw UserError(refusal);
  }
}

std::vector<Scheme> schemes_to_try(const RunConfig& config,
                                   const std::optional<ExchangeChoice>& kept) {
  const bool automatic = config.cluster.mode == ExchangeMode::automatic;
  if (automatic && kept) return {scheme_of(choose_exchange(config.cluster, kept, {}))};
  if (!automatic) return schemes_of(config.cluster, config.optim.shard);
  return schemes_of_auto(config.cluster, config.optim.shard, local_refusal(config).empty());
}

OptimConfig scaled_rate(OptimConfig optim, double rate) {
  optim.lr *= rate;
  optim.min_lr *= rate;
  if (optim.max_lr) optim.max_lr = *optim.max_lr * rate;
  optim.clip *= rate;
  return optim;
}

RunExchange::RunExchange(Team& team, const RunConfig& config, Learner& learner, RunStart& start,
                         const std::optional<PreflightReport>& links)
    : team_(team), config_(config), learner_(learner) {
  if (links) {
    choice_ = choose_exchange(config.cluster, start.state.exchange, links->forecast);
    const LinkSummary link = summary_of(links->links);
    basis_.bytes_per_second = link.bytes_per_second;
    if (team.world().rank == 0) {  // who made the forecast and would plan anew
      const auto values = static_cast<double>(learner.model.params().count());
      const double work = links->software.codec_of(scheme_of(choice_)) * values;
      basis_.compute_seconds = links->step_without_links;
      basis_.fewest_steps = local_steps_that_pay(work, links->step_without_links);
      basis_.latency_seconds = local_latency(links->shape, link.rtt_seconds);
    }
    refuse_what_does_not_go(config, choice_.mode);
  }
  gradients_ = team.exchange(learner.model.params(), choice_, learner.adam.plan());
  if (choice_.mode == ExchangeMode::local) {
    const auto hosts = static_cast<double>(team.world().hosts());
    rate_ = config.cluster.local_rate.value_or(std::sqrt(hosts));
    learner.adam.set_clip(scaled_rate(config.optim, rate_).clip);
  }
  resume(start);
}

void RunExchange::settle() {
  local_.reset();
}

void RunExchange::resume(RunStart& start) {
  // A run that goes back: the steps between exchanges may have been others then.
  const auto& before = start.state.exchange;
  if (before && before->mode == choice_.mode) {
    choice_ = choose_exchange(config_.cluster, before, {});
  }
  start.state.exchange.reset();
  if (team_.world().hosts() > 1) start.state.exchange = choice_;
  local_ = team_.local_exchange(learner_.model.params(), choice_, config_.cluster, start.state.step,
                                basis_);
  if (start.state.step == 0) return;
  gradients_->restore_kept(start.kept);
  if (local_) resume_local(start);
}

Tensor RunExchange::newest_weights() {
  if (local_) return local_->anchor();
  const Tensor &averaged = learner_.adam.averaged(), values = learner_.model.params().values();
  if (!averaged.defined()) return values;
  if (!learner_.adam.sharded()) return averaged;
  Tensor all;
  if (team_.comm().first()) all = at::empty(values.sizes());
  gradients_->gather(averaged, all);
  return all;
}

std::string RunExchange::text() const {
  if (!local_) return {};
  return format(
      "local       weights are exchanged every {} steps and added {} later; the learning rate is "
      "{:.3g} times what is set (cluster.local_rate); losses are those of rank 0's host",
      choice_.rhythm.steps, choice_.rhythm.delay, rate_);
}

// Every host has its part of the checkpoint, or none uses its own.
void RunExchange::resume_local(RunStart& start) {
  Comm& comm = team_.comm();
  FlatParams& params = learner_.model.params();
  const HostPlace place{config_.run, comm.world()};
  const bool leads = comm.world().is_leader();
  const std::string problem =
      leads ? host_part_problem(place, start.state.step, params.values()) : "";
  std::vector<std::string> missing;
  const auto problems = texts_of_all(comm, problem);
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    missing.push_back(
        format("{}: {}", comm.world().name_of(static_cast<int>(rank)), problems[rank]));
  }
  if (!missing.empty()) {
    start.notes.push_back(
        format("hosts go on from the weights they had in common, not to the bit: {}",
               join(missing, "; ")));
    return;
  }
  const TrainTensors tensors{
      params.values(), learner_.adam.first_moment(), learner_.adam.second_moment(), {}};
  LocalState state;
  if (leads) state = read_host_part(place, start.state, params, tensors);
  const std::string own = text_of_first(comm, own_counts(start.state).dump(), Group::host);
  constexpr std::string_view kCounted = "what this host has counted";
  take_own_counts(start.state, Json::parse(own, kCounted), kCounted);
  begin_counts_anew(start.state, start.changed, config_);
  const at::NoGradGuard no_gradient;
  for (const Tensor& tensor : {tensors.values, tensors.first, tensors.second}) {
    comm.broadcast(tensor, Group::host);
  }
  local_->restore(state);
}

}  // namespace tandem
