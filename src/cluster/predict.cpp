#include "cluster/predict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "cluster/local_schedule.h"

namespace tandem {
namespace {

constexpr double kLocalReserve = 1.15;  // links have bad minutes
constexpr double kLocalWork = 0.02;     // of a step
constexpr double kBucketsUnderWay = 3;
constexpr double kMostBeside = 3;  // times the code
constexpr std::int64_t kFewestLocal = 2, kMostLocal = 128;
constexpr std::int64_t kShortLocal = 8;  // int8 below: int4 would not make it much shorter

// On GPUs NCCL gathers the exact numbers of all hosts, and each host adds them up
// (leader_link.cpp).
bool is_gathered(Scheme scheme, const ClusterShape& shape) {
  return shape.on_gpus && (scheme == Scheme::exact_bf16 || scheme == Scheme::exact_fp32);
}

// Messages that follow each other, in round trips. A sender of Gloo first hears that the receiver
// is ready: half a round trip more than the message itself takes. A ring passes 2 (n - 1) messages
// on to sum, n - 1 to gather; tandem's leaders send to all others at once, and of more than two
// hosts each sends twice.
double round_trips(Scheme scheme, const ClusterShape& shape) {
  if (is_flat(scheme)) return 2.0 * static_cast<double>(shape.workers() - 1);
  if (is_gathered(scheme, shape)) return static_cast<double>(shape.hosts - 1);
  return shape.hosts == 2 ? 1.0 : 2.0;
}

TravelCost wire_cost(Scheme scheme, const PredictInput& in) {
  check(in.link.bytes_per_second > 0, "a link that carries something");
  TravelCost cost;
  const double latency = round_trips(scheme, in.shape) * in.link.rtt_seconds;
  if (is_flat(scheme) || is_gathered(scheme, in.shape)) {
    cost.fixed_seconds = latency;  // one ring at a time
  } else {
    cost.latency_seconds = latency;
    cost.least_seconds = latency / kBucketsUnderWay;
  }
  cost.per_value_seconds = in.software.per_value_seconds + in.software.codec_of(scheme) +
                           bytes_out_of_host(scheme, in.shape, 1) / in.link.bytes_per_second;
  return cost;
}

StepReplay replay(const PredictInput& in, const ComputeSeconds& compute, const TravelCost& cost) {
  return replay_step(compute, make_buckets(in.facts.pieces, in.facts.bucket_values), cost);
}

// The host with the most workers is left. A global batch is all on it; else its workers keep their
// own part.
struct OneHost {
  double step_seconds, tokens;
};
OneHost one_host(const PredictInput& in) {
  const double times_fewer =
      static_cast<double>(in.shape.workers()) / static_cast<double>(in.shape.workers_per_host);
  const StepFacts& facts = in.facts;
  const ComputeSeconds compute =
      facts.batch_is_global ? scaled_compute(facts.compute, times_fewer) : facts.compute;
  return {replay(in, compute, {}).step_seconds,
          facts.batch_is_global ? facts.tokens : facts.tokens / times_fewer};
}

void judge(Prediction& p, const PredictInput& in) {
  const OneHost alone = one_host(in);
  const double tokens = p.scheme == Scheme::one_host ? alone.tokens : in.facts.tokens;
  p.tokens_per_second = tokens / p.step_seconds;
  p.speed_up = p.tokens_per_second / (alone.tokens / alone.step_seconds);
  p.efficiency = p.scheme == Scheme::one_host ? 1 : step_without_links(in) / p.step_seconds;
}

std::int64_t between_exchanges(double needed) {
  if (!(needed < static_cast<double>(kMostLocal))) return kMostLocal;
  return std::max(kFewestLocal, static_cast<std::int64_t>(std::ceil(needed)));
}

Prediction predict_local(Scheme scheme, const PredictInput& in, std::int64_t steps) {
  Prediction p;
  p.scheme = scheme;
  const double values = in.facts.values(), compute = step_without_links(in);
  const double work = in.software.codec_of(scheme) * values;
  p.bytes_out = bytes_out_of_host(scheme, in.shape, values);
  const double transfer =
      p.bytes_out / in.link.bytes_per_second + local_latency(in.shape, in.link.rtt_seconds);
  p.local_steps = steps > 0 ? steps
                            : std::max(local_steps_that_hide(transfer, compute),
                                       local_steps_that_pay(work, compute));
  const auto between = static_cast<double>(p.local_steps);
  // Encoding and merging take the worker's time; the wire does not.
  const double merge = work / between;
  p.step_seconds = std::max(compute, transfer / between) + merge;
  p.exposed_seconds = p.step_seconds - compute;
  judge(p, in);
  return p;
}

// Fewer bytes would not help: an exchange waits for the processor longer than for the link.
bool is_faster_than_software(Scheme scheme, const PredictInput& in) {
  const double software = in.software.per_value_seconds + in.software.codec_of(scheme);
  return bytes_out_of_host(scheme, in.shape, 1) / in.link.bytes_per_second <= software;
}

}  // namespace

bool is_local(Scheme scheme) {
  return scheme == Scheme::local_int8 || scheme == Scheme::local_int4;
}
bool is_lossy(Scheme scheme) {
  return is_local(scheme) || scheme == Scheme::int8 || scheme == Scheme::int4;
}
bool is_flat(Scheme scheme) {
  return scheme == Scheme::flat_fp16 || scheme == Scheme::flat_fp32;
}

double step_without_links(const PredictInput& in) {
  return replay(in, in.facts.compute, {}).step_seconds;
}

double tcp_goodput(double bits_per_second) {
  // 1448 of 1538 bytes: Ethernet's gap and preamble, headers of Ethernet, IP and TCP.
  return bits_per_second / 8 * 1448 / 1538;
}

double StepFacts::values() const {
  double sum = 0;
  for (const ReadyPiece& piece : pieces) sum += piece.values;
  return sum;
}

double bytes_per_value(Scheme scheme) {
  switch (scheme) {
    case Scheme::one_host:
      return 0;
    case Scheme::exact_fp32:
    case Scheme::flat_fp32:
      return 4;
    case Scheme::exact_bf16:
    case Scheme::flat_fp16:
      return 2;
    case Scheme::int8:
    case Scheme::local_int8:
      return 1 + 2.0 / 256;  // a 16-bit scale for 256 values
    case Scheme::int4:
    case Scheme::local_int4:
      return 0.5 + 2.0 / 128;
  }
  return 0;
}

double bytes_out_of_host(Scheme scheme, const ClusterShape& shape, double values) {
  const auto hosts = static_cast<double>(shape.hosts);
  const auto workers = static_cast<double>(shape.workers());
  if (shape.hosts == 1) return 0;
  const double factor = is_flat(scheme)              ? 2 * (workers - 1) / workers
                        : is_gathered(scheme, shape) ? hosts - 1
                        : shape.hosts == 2           ? 1
                                                     : 2 * (hosts - 1) / hosts;
  return factor * bytes_per_value(scheme) * values;
}

double local_latency(const ClusterShape& shape, double rtt_seconds) {
  const double data = round_trips(Scheme::local_int8, shape), news = 1;
  return static_cast<double>(kLocalFragments) * (news + data) * rtt_seconds;
}

std::int64_t local_steps_that_hide(double transfer_seconds, double step_seconds) {
  return between_exchanges(kLocalReserve * transfer_seconds / step_seconds);
}

std::int64_t local_steps_that_pay(double work_seconds, double step_seconds) {
  return between_exchanges(work_seconds / (kLocalWork * step_seconds));
}

Prediction predict(Scheme scheme, const PredictInput& in, std::int64_t local_steps) {
  if (is_local(scheme) && in.shape.hosts > 1) return predict_local(scheme, in, local_steps);
  if (scheme != Scheme::one_host && in.shape.hosts > 1) {
    return predict_measured(scheme, in, wire_cost(scheme, in));
  }
  Prediction p;
  p.scheme = Scheme::one_host;
  p.step_seconds = one_host(in).step_seconds;
  judge(p, in);
  return p;
}

Prediction predict_measured(Scheme scheme, const PredictInput& in, const TravelCost& cost) {
  // Sharded: a gradient goes to its owner, and nothing hides the weights that come back.
  TravelCost gradients = cost;
  if (in.facts.sharded) gradients.per_value_seconds /= 2;
  const StepReplay steps = replay(in, in.facts.compute, gradients);
  Prediction p;
  p.scheme = scheme;
  p.bytes_out = bytes_out_of_host(scheme, in.shape, in.facts.values());
  p.step_seconds = steps.step_seconds;
  p.exposed_seconds = steps.exposed_seconds;
  if (in.facts.sharded) {
    const auto hosts = static_cast<double>(in.shape.hosts);
    const double part = (hosts - 1) / hosts * in.facts.values();
    p.bytes_out = part * (bytes_per_value(scheme) + 4);
    const double weights = 4 * part / in.link.bytes_per_second;
    p.step_seconds += weights;
    p.exposed_seconds += weights;
  }
  judge(p, in);
  return p;
}

double beside_code_and_link(const TravelCost& measured, Scheme scheme, const PredictInput& in) {
  const double wire = bytes_out_of_host(scheme, in.shape, 1) / in.link.bytes_per_second;
  const double code = in.software.codec_of(scheme);
  return std::clamp(measured.per_value_seconds - wire - code, 0.0, kMostBeside * code);
}

Prediction choose_scheme(const PredictInput& in, const std::vector<Scheme>& allowed,
                         std::int64_t local_steps) {
  const auto may = [&](Scheme scheme) {
    return std::ranges::find(allowed, scheme) != allowed.end();
  };
  if (in.shape.hosts == 1) return predict(Scheme::one_host, in);
  const double bar = kNearlyFree * step_without_links(in);
  std::vector<Prediction> tried;
  for (const Scheme scheme : {Scheme::exact_bf16, Scheme::exact_fp32, Scheme::int8, Scheme::int4}) {
    if (!may(scheme)) continue;
    tried.push_back(predict(scheme, in));
    if (tried.back().step_seconds <= bar) return tried.back();
    const bool exact = scheme == Scheme::exact_bf16 || scheme == Scheme::exact_fp32;
    const bool pays = tried.back().speed_up >= 1;
    if (exact && pays && is_faster_than_software(scheme, in)) return tried.back();
  }
  std::vector<Prediction> local;
  for (const Scheme scheme : {Scheme::local_int8, Scheme::local_int4}) {
    if (may(scheme)) local.push_back(predict(scheme, in, local_steps));
  }
  // Precise changes where fewer bits would hardly be exchanged more often.
  if (local.size() == 2 && local[0].local_steps > std::max(kShortLocal, local[1].local_steps)) {
    std::swap(local[0], local[1]);
  }
  for (const Prediction& prediction : local) {
    if (prediction.step_seconds <= bar) return prediction;
    tried.push_back(prediction);
  }
  tried.push_back(predict(Scheme::one_host, in));
  return *std::ranges::max_element(tried, {}, &Prediction::speed_up);
}

}  // namespace tandem
