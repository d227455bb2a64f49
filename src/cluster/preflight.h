// preflight: what is known before the first step: hosts, links, compute, the real exchange, and
// from them the time of a step, the speed-up over one host, and the time and cost to the end.
//
// Every worker calls it at the same point of its start. The first worker gets the whole report; all
// get the same verdict and the same way of exchanging. On one host it needs no network.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/link_table.h"
#include "cluster/predict.h"
#include "cluster/preflight_hosts.h"
#include "cluster/store.h"
#include "cluster/world.h"

namespace tandem {

// The parts that need tensors, handed in.
struct PreflightWork {
  // This worker's part of a step without communication. Bounded: about a second.
  std::function<ComputeSeconds()> compute;
  // Seconds of one real exchange of so many values in their buckets; all workers call it together.
  // Empty: the link probe alone decides.
  std::function<double(double values)> exchange;
  // Adds what codes cost, for leaders; all call it together. Empty: bytes alone decide.
  std::function<void(SoftwareCost&)> codecs;
};

struct PreflightSetting {
  StepFacts facts;  // its compute is measured here
  // More than one: the most exact that is nearly free is chosen.
  std::vector<Scheme> schemes = {Scheme::exact_bf16};
  std::int64_t local_steps = 0;
  std::optional<double> require;     // least speed-up over one host
  bool workers_share_cores = false;  // of a host; GPUs are each worker's own
  HostNeeds needs;
  bool dataset_is_sent = false;
  std::optional<std::int64_t> steps_to_end;
  std::optional<double> price_per_host_hour;
  std::string currency;
  // What it may take by design; more than three in all would be noticed at every start.
  double link_seconds = 1.4;
  double compute_seconds = 1.0;    // of trying
  double exchange_seconds = 0.15;  // of the larger of two exchanges, which runs twice
  double link_limit_seconds = 10;  // of a round of probes, when a link is dead
  double limit_seconds = 60;       // when a worker does not answer; slow ones compute for a while
};

// Why the run must not start.
struct Refusal {
  bool users_mistake = false;  // hosts differ; else the machines are not good enough
  std::string text;
};

struct PreflightReport {
  std::vector<HostFacts> hosts;
  ClusterShape shape;
  LinkTable links;
  ComputeSeconds compute;  // of the slowest worker
  std::string slowest_worker;
  std::optional<TravelCost> exchange;
  SoftwareCost software;
  Prediction forecast;
  // Of every way that was open, and of one host alone; empty: there was no choice.
  std::vector<Prediction> alternatives;
  double step_without_links = 0;
  std::optional<double> seconds_to_end, cost;
  std::string currency;
  std::optional<std::int64_t> steps_to_end;
  std::vector<std::string> warnings;
  std::optional<Refusal> refusal;
  double seconds = 0;  // that all this took
  bool measured() const { return forecast.step_seconds > 0; }
};

ClusterShape shape_of(const World& world, bool on_gpus);

PreflightReport preflight(const World& world, Store& store, const HostFacts& own,
                          const PreflightSetting& setting, const PreflightWork& work);

// Throws the refusal, if there is one.
void refuse_if_told(const PreflightReport& report);

// What an exchange among all hosts can count on in each direction; none where nothing was measured.
std::optional<double> slowest_link_bits_per_s(const PreflightReport& report);

std::string preflight_text(const PreflightReport& report);
Json preflight_json(const PreflightReport& report);

}  // namespace tandem
