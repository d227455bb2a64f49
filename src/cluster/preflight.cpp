#include "cluster/preflight.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "base/format.h"
#include "cluster/link_table_measure.h"
#include "cluster/preflight_links.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFewValues = 1 << 14;
constexpr int kFewTimes = 3;
constexpr double kSlowSeconds = 0.02;  // of few values on the link; nothing else counts there

// What workers tell each other through the store.
class Talk {
 public:
  Talk(const World& world, Store& store, double limit_seconds)
      : world_(world), store_(store), limit_(static_cast<std::int64_t>(limit_seconds * 1e3)) {}

  // What each of these ranks has told; only the first worker asks.
  std::vector<Json> gather(const char* what, const std::vector<int>& ranks) {
    std::vector<Json> told;
    for (const int rank : ranks) {
      const std::string key = format("preflight/{}/{}", what, rank);
      try {
        told.push_back(Json::parse(store_.get(key, limit_), key));
      } catch (const EnvError&) {
        throw EnvError(format("{} did not answer during the check of the hosts within {} s",
                              world_.name_of(rank), limit_.count() / 1000));
      }
    }
    return told;
  }
  void tell(const char* what, const Json& value) {
    store_.set(format("preflight/{}/{}", what, world_.rank), value.dump());
  }
  // One word from the first worker to all.
  Json agree(const char* what, const Json& of_first) {
    const std::string key = format("preflight/{}", what);
    if (world_.rank == 0) store_.set(key, of_first.dump());
    // The first worker may be waiting for others: each of them has its own limit.
    return Json::parse(store_.get(key, 2 * limit_), key);
  }

 private:
  const World& world_;
  Store& store_;
  std::chrono::milliseconds limit_;
};

std::string sentences(const std::vector<std::string>& list) {
  return format("{}", join(list, "; "));
}

Json refusal_json(const std::optional<Refusal>& refusal) {
  if (!refusal) return Json::object();
  return Json::object().set("users_mistake", refusal->users_mistake).set("text", refusal->text);
}

std::optional<Refusal> refusal_from(const Json& json) {
  if (json.find("text") == nullptr) return {};
  return Refusal{json.at("users_mistake").as_bool(), json.at("text").as_string()};
}

std::vector<int> all_ranks(const World& world) {
  std::vector<int> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Of what each worker told, by rank: hosts differ from the first one, or workers of one host.
std::vector<std::string> differences_of(const World& world, const std::vector<HostFacts>& workers,
                                        bool dataset_is_sent) {
  const auto told_by = [&](const std::vector<int>& ranks) {
    std::vector<HostFacts> told;
    for (const int rank : ranks) told.push_back(workers[static_cast<std::size_t>(rank)]);
    return told;
  };
  std::vector<std::string> differences =
      host_differences(told_by(world.leaders()), dataset_is_sent);
  for (int host = 0; host < world.hosts(); ++host) {
    std::vector<HostFacts> of_host = told_by(world.ranks_of_host(host));
    for (std::size_t i = 1; i < of_host.size(); ++i) {
      of_host[i].host = world.name_of(world.ranks_of_host(host)[i]);
    }
    std::ranges::move(host_differences(of_host, false), std::back_inserter(differences));
  }
  return differences;
}

// Workers tell their facts; the first one compares them. A refusal here saves the measuring.
void compare_hosts(const World& world, Talk& talk, const HostFacts& own,
                   const PreflightSetting& setting, PreflightReport& report) {
  talk.tell("worker", host_facts_json(own));
  std::optional<Refusal> refusal;
  if (world.rank == 0) {
    std::vector<HostFacts> workers;
    for (const Json& facts : talk.gather("worker", all_ranks(world))) {
      workers.push_back(host_facts_from_json(facts));
    }
    for (const int rank : world.leaders()) {
      report.hosts.push_back(workers[static_cast<std::size_t>(rank)]);
    }
    const auto differences = differences_of(world, workers, setting.dataset_is_sent);
    if (!differences.empty()) refusal = Refusal{true, sentences(differences)};
    report.warnings = host_warnings(report.hosts, setting.needs);
  }
  report.refusal = refusal_from(talk.agree("hosts-agree", refusal_json(refusal)));
}

Json compute_json(const ComputeSeconds& seconds) {
  return Json::object()
      .set("forward", seconds.forward)
      .set("backward", seconds.backward)
      .set("optimizer", seconds.optimizer)
      .set("other", seconds.other)
      .set("micro_batches", seconds.micro_batches);
}

ComputeSeconds compute_from(const Json& json) {
  return {json.at("forward").as_double(), json.at("backward").as_double(),
          json.at("optimizer").as_double(), json.at("other").as_double(),
          json.at("micro_batches").as_int()};
}

// Where workers share cores, what one waited for in the trial another one had: over the steps of a
// run it is the same for all, and they take as long as their mean speed says.
double host_seconds(const std::vector<double>& workers, bool share_cores) {
  if (!share_cores) return std::ranges::max(workers);
  double speeds = 0;
  for (const double seconds : workers) speeds += 1 / std::max(seconds, 1e-9);
  return static_cast<double>(workers.size()) / speeds;
}

// A step takes as long as its slowest host.
void measure_compute(const World& world, Talk& talk, const PreflightSetting& setting,
                     const PreflightWork& work, PreflightReport& report) {
  talk.tell("compute", compute_json(work.compute()));
  if (world.rank != 0) return;
  for (int host = 0; host < world.hosts(); ++host) {
    const std::vector<int> ranks = world.ranks_of_host(host);
    std::vector<double> totals;
    ComputeSeconds slowest;
    int slowest_rank = ranks.front();
    for (std::size_t i = 0; const Json& told : talk.gather("compute", ranks)) {
      const ComputeSeconds seconds = compute_from(told);
      totals.push_back(seconds.total());
      if (i == 0 || seconds.total() > slowest.total()) {
        slowest = seconds;
        slowest_rank = ranks[i];
      }
      ++i;
    }
    const double factor =
        host_seconds(totals, setting.workers_share_cores) / std::max(slowest.total(), 1e-9);
    if (host > 0 && factor * slowest.total() <= report.compute.total()) continue;
    report.compute = {factor * slowest.forward, factor * slowest.backward,
                      factor * slowest.optimizer, factor * slowest.other, slowest.micro_batches};
    report.slowest_worker = world.name_of(slowest_rank);
  }
}

// The real thing at two sizes: what software and handshakes add to the wire. All workers get the
// same sizes, because the link table is the same. On links of a few Mbps they add nothing that
// counts, and trying would take seconds.
std::optional<TravelCost> measure_exchange(const PreflightSetting& setting,
                                           const PreflightWork& work, const LinkSummary& link) {
  if (!work.exchange || link.bytes_per_second <= 0) return {};
  const double bytes = bytes_per_value(setting.schemes.front());
  if (kFewValues * bytes / link.bytes_per_second > kSlowSeconds) return {};
  const double many = std::clamp(setting.exchange_seconds * link.bytes_per_second / bytes,
                                 4 * kFewValues, 4 * setting.facts.bucket_values);
  work.exchange(kFewValues);  // connections, first pages
  std::vector<double> few;
  for (int i = 0; i < kFewTimes; ++i) few.push_back(work.exchange(kFewValues));
  return cost_from_two(kFewValues, median_of(few), many, work.exchange(many));
}

std::vector<Prediction> alternatives_of(const PreflightSetting& setting,
                                        const PredictInput& input) {
  std::vector<Prediction> all;
  for (const Scheme scheme : setting.schemes) {
    all.push_back(predict(scheme, input, setting.local_steps));
  }
  return all;
}

// Hosts that are there are used: that one of them alone would be faster is a warning.
Prediction forecast_of(const PreflightSetting& setting, const PredictInput& input,
                       const std::optional<TravelCost>& exchange) {
  if (input.shape.hosts == 1) return predict(Scheme::one_host, input);
  const Scheme first = setting.schemes.front();
  Prediction chosen = predict(first, input, setting.local_steps);
  if (setting.schemes.size() > 1) {
    chosen = choose_scheme(input, setting.schemes, setting.local_steps);
    if (chosen.scheme == Scheme::one_host) {
      const auto all = alternatives_of(setting, input);
      chosen = *std::ranges::max_element(all, {}, &Prediction::speed_up);
    }
  }
  if (exchange && chosen.scheme == first) return predict_measured(first, input, *exchange);
  return chosen;
}

void forecast(const PreflightSetting& setting, const World& world, PreflightReport& report) {
  PredictInput input;
  input.facts = setting.facts;
  input.facts.compute = report.compute;
  input.shape = report.shape;
  const LinkSummary link = summary_of(report.links);
  input.link = {link.bytes_per_second, link.rtt_seconds};
  input.software = report.software;
  if (report.exchange) {
    report.software.per_value_seconds = input.software.per_value_seconds =
        beside_code_and_link(*report.exchange, setting.schemes.front(), input);
  }
  report.forecast = forecast_of(setting, input, report.exchange);
  report.step_without_links = step_without_links(input);
  if (setting.schemes.size() > 1) {
    report.alternatives = alternatives_of(setting, input);
    report.alternatives.push_back(predict(Scheme::one_host, input));
  }

  report.steps_to_end = setting.steps_to_end;
  report.currency = setting.currency;
  if (setting.steps_to_end) {
    const double tokens = setting.facts.tokens * static_cast<double>(*setting.steps_to_end);
    report.seconds_to_end = tokens / report.forecast.tokens_per_second;
    if (setting.price_per_host_hour) {
      report.cost = *report.seconds_to_end / 3600 * *setting.price_per_host_hour *
                    static_cast<double>(world.hosts());
    }
  }
  for (std::string& warning : link_warnings(report.hosts, report.links, input, report.forecast)) {
    report.warnings.push_back(std::move(warning));
  }
  if (setting.require && world.hosts() > 1 && report.forecast.speed_up < *setting.require) {
    report.refusal = Refusal{
        false,
        format("the predicted speed-up over one host is {:.2f}, but cluster.require asks for "
               "{:.2f}; use faster links, another cluster.mode, or one host",
               report.forecast.speed_up, *setting.require)};
  }
}

// Others need to know how to exchange and whether to go on at all.
void agree_on_verdict(Talk& talk, PreflightReport& report) {
  const Json verdict =
      talk.agree("verdict", Json::object()
                                .set("scheme", static_cast<std::int64_t>(report.forecast.scheme))
                                .set("local_steps", report.forecast.local_steps)
                                .set("refusal", refusal_json(report.refusal)));
  report.forecast.scheme = static_cast<Scheme>(verdict.at("scheme").as_int());
  report.forecast.local_steps = verdict.at("local_steps").as_int();
  report.refusal = refusal_from(verdict.at("refusal"));
}

}  // namespace

ClusterShape shape_of(const World& world, bool on_gpus) {
  std::size_t most = 0;
  for (int host = 0; host < world.hosts(); ++host) {
    most = std::max(most, world.ranks_of_host(host).size());
  }
  return {world.hosts(), static_cast<std::int64_t>(most), on_gpus, world.size()};
}

PreflightReport preflight(const World& world, Store& store, const HostFacts& own,
                          const PreflightSetting& setting, const PreflightWork& work) {
  check(!setting.schemes.empty(), "a way to exchange");
  const Clock::time_point start = Clock::now();
  Talk talk(world, store, setting.limit_seconds);
  PreflightReport report;
  report.shape = shape_of(world, !setting.workers_share_cores);
  compare_hosts(world, talk, own, setting, report);
  if (!report.refusal) {
    report.links = measure_links(
        world, store, {setting.link_seconds, setting.link_limit_seconds, "preflight/links"});
    measure_compute(world, talk, setting, work, report);
    report.exchange = measure_exchange(setting, work, summary_of(report.links));
    if (work.codecs) {
      talk.agree("codecs", Json::object());  // all begin when the first has heard of all
      work.codecs(report.software);
    }
    if (world.rank == 0) forecast(setting, world, report);
    agree_on_verdict(talk, report);
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

void refuse_if_told(const PreflightReport& report) {
  if (!report.refusal) return;
  if (report.refusal->users_mistake) throw UserError(report.refusal->text);
  throw EnvError(report.refusal->text);
}

}  // namespace tandem
