// predict: from compute, link and shape to the time of a step in each way of exchanging. Pure.
//
// P values a worker, H hosts, W workers on each, b bytes a value on the wire: out of one host's
// interface go
//   flat ring over all workers       2 (HW - 1) / HW * b P
//   sum in the host, then two hosts  b P              (each sends all it has, once)
//   sum in the host, more hosts      2 (H - 1) / H * b P   (a part to its owner, its sum to all)
//   the same, exact, of GPUs         (H - 1) * b P    (each gathers all and adds up itself)
//   sharded optimizer                (H - 1) / H * (b + 4) P   (gradients to their owner, weights
//   to all)
// and with `local` the same every so many steps, while training goes on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/step_model.h"

namespace tandem {

enum class Scheme {
  one_host,  // the others are switched off
  exact_fp32,
  exact_bf16,
  int8,
  int4,
  local_int8,
  local_int4,
  flat_fp16,  // what Horovod, NCCL and Gloo do when nobody tells them about hosts
  flat_fp32,
};
constexpr std::array<std::string_view, 9> names_of(Scheme) {
  return {"one host",   "exact fp32", "exact bf16",     "int8",          "int4",
          "local int8", "local int4", "flat ring fp16", "flat ring fp32"};
}

bool is_local(Scheme scheme);
bool is_lossy(Scheme scheme);  // local ones are
bool is_flat(Scheme scheme);

struct ClusterShape {
  std::int64_t hosts = 1;
  std::int64_t workers_per_host = 1;  // of the host with the most
  bool on_gpus = false;  // there exact gradients are gathered from all hosts and summed by each
  std::int64_t all = 0;  // workers; 0: as many on every host
  std::int64_t workers() const { return all > 0 ? all : hosts * workers_per_host; }
};

// Between any two hosts, in each direction with both in use.
struct LinkSpeed {
  double bytes_per_second = 0;
  double rtt_seconds = 0;
};

// TCP payload of a wire of so many bits a second with frames of 1500 bytes.
double tcp_goodput(double bits_per_second);

// What software adds to the wire, by measurement; 0: not known.
struct SoftwareCost {
  double per_value_seconds = 0;  // of every way to exchange: sums, copies, handshakes
  // Encode and decode; of local schemes all that an exchange takes from training. By Scheme.
  std::array<double, names_of(Scheme{}).size()> codec_per_value{};
  double codec_of(Scheme scheme) const {
    return codec_per_value.at(static_cast<std::size_t>(scheme));
  }
};

struct StepFacts {
  ComputeSeconds compute;  // of one worker for its part of the step
  std::vector<ReadyPiece> pieces;
  double tokens = 0;            // target tokens of a step, all workers together
  bool batch_is_global = true;  // else each worker adds its own part to the step
  double bucket_values = 1 << 20;
  bool sharded = false;  // optim.shard: weights travel after the update, as fp32
  double values() const;
};

struct Prediction {
  Scheme scheme = Scheme::one_host;
  std::int64_t local_steps = 1;  // between two exchanges of a value
  double bytes_out = 0;          // of one host in one exchange
  double step_seconds = 0, exposed_seconds = 0;
  double tokens_per_second = 0;
  double efficiency = 0;  // of the same workers without communication
  double speed_up = 0;    // over one host
};

struct PredictInput {
  StepFacts facts;
  ClusterShape shape;
  LinkSpeed link;
  SoftwareCost software;
};

double bytes_per_value(Scheme scheme);
// Out of one host's interface, in one exchange.
double bytes_out_of_host(Scheme scheme, const ClusterShape& shape, double values);

// The same workers as if the links between hosts took no time.
double step_without_links(const PredictInput& input);

// What round trips add to the transfer of all weights in mode local: fragments follow each other,
// each with news before it.
double local_latency(const ClusterShape& shape, double rtt_seconds);
// Steps between two exchanges, 2 to 128: so many that they hide the transfer with 15 % to spare,
std::int64_t local_steps_that_hide(double transfer_seconds, double step_seconds);
// and that what an exchange takes from training, however fast the link is, is 2 % of them.
std::int64_t local_steps_that_pay(double work_seconds, double step_seconds);

// local_steps: of the local schemes; 0: the best.
Prediction predict(Scheme scheme, const PredictInput& input, std::int64_t local_steps = 0);
// With the cost of a bucket as it was measured on the real exchange.
Prediction predict_measured(Scheme scheme, const PredictInput& input, const TravelCost& cost);

// What every value of the real exchange took beside its code and the link, which input has: sums,
// copies. A busy moment is none of it: at most three times the code.
double beside_code_and_link(const TravelCost& measured, Scheme scheme, const PredictInput& input);

inline constexpr double kNearlyFree = 1.10;  // of no communication
// The first of exact, int8, int4 that is nearly free; then local; then one host.
// allowed: what the program can do. Nothing lossy is chosen where exact would do, nor, as long as
// exact is no slower than one host, on a link that carries its bytes in less time than its software
// takes for them: fewer bytes, which is all that a code gives, would not help there.
Prediction choose_scheme(const PredictInput& input, const std::vector<Scheme>& allowed,
                         std::int64_t local_steps = 0);

}  // namespace tandem
