// local_exchange: mode local. Every host trains on its own share of each batch; now and then the
// hosts tell each other how far their weights have moved, fragment by fragment, while training goes
// on (local_schedule.h says when, local_courier.h carries).
//
//   anchor: what all hosts have in common, to the last bit
//   leaving:  sent = coded(weights - anchor)
//   arriving: anchor += mean of all sent;  weights += others = that mean - own sent
//
// So what a host has learnt meanwhile stays, and what the code lost stays in its weights and leaves
// with the next exchange. Evaluations and checkpoints use the anchor.
// Why so: docs/decisions/0011-local-exchange.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/comm.h"
#include "cluster/host_memory.h"
#include "cluster/link_codec.h"
#include "cluster/link_watch.h"
#include "cluster/local_schedule.h"

namespace tandem {

// What the steps between exchanges were planned with.
struct LocalBasis {
  double bytes_per_second = 0;    // of the link; 0: nobody measured it
  double latency_seconds = 0;     // of exchanging all weights once, beside what the bytes take
  double compute_seconds = 0;     // of a step, until some were done; 0: nobody measured it
  std::int64_t fewest_steps = 0;  // for what an exchange takes from training on any link
};

struct LocalSetting {
  LinkFormat format = LinkFormat::int4;  // of changes between hosts: int8 or int4
  LocalRhythm rhythm;
  double momentum = 0;        // of the anchor
  bool follows_link = false;  // a changed link changes the steps between exchanges
  LocalBasis basis = {};
  std::optional<std::int64_t> delay = {};  // as set; none: by the steps
  // That holds the gradients, with as much room again behind the leader's: for results on their
  // way to its host's workers. None: they go through Comm.
  HostMemory* memory = nullptr;
  // On a leader, once: a worker of this host was told to stop, and all hosts stop after this step.
  std::function<void(std::int64_t step)> on_stop = {};
  bool as_on_gpu = false;  // weights in memory are treated like those on a GPU, for tests
};

// By experience with translation models: none below four hosts (Wang et al. 2020, fairscale).
double local_momentum(int hosts);

// Flat buffers, fp32, in memory or on a GPU; all else that a leader keeps is in memory. Gradients
// are of no use to anybody between two steps: the anchor travels from the leader to its host's
// workers there.
struct LocalBuffers {
  at::Tensor weights, gradients;
  std::vector<GradRange> slots;
};

// What this host alone knows, for exact resume.
struct LocalState {
  Json schedule;                   // the same on all hosts
  std::vector<at::Tensor> arrays;  // flat, of leaders; empty elsewhere
};

class LocalExchange {
 public:
  struct News {
    bool stop = false;           // in: a worker of this host got a signal; out: of any host
    bool diverged = false;       // the same of its training
    double seconds = 0;          // of training; out: by rank 0's clock
    double compute_seconds = 0;  // in: of the step before; 0: there was none
  };
  struct Stats {
    std::int64_t bytes_out = 0, bytes_in = 0;  // of this host
    std::optional<News> agreed;                // all hosts hear the same after the same step
    std::optional<LocalRhythm> rhythm;         // from here on
    std::optional<LinkWatch::Change> link;     // noticed by this host
  };

  // step: the last one done. All hosts have the same weights: they are the anchor. All workers make
  // one; comm, buffers and memory outlive it.
  LocalExchange(Comm& comm, LocalBuffers buffers, const LocalSetting& setting, std::int64_t step);
  ~LocalExchange();
  LocalExchange(const LocalExchange&) = delete;
  LocalExchange& operator=(const LocalExchange&) = delete;

  // Around the update of every step, on all workers. From after_update on until before_update
  // returns the weights stay as they are: a thread of the leader computes what leaves of them.
  void before_update();
  Stats after_update(std::int64_t step, const News& own);

  // The anchor, in memory or on the weights' device. All workers of a host call it together; valid
  // until the next step.
  at::Tensor common();
  const at::Tensor& anchor() const;  // of a leader, who needs nobody for it

  // All workers call these. restore: on a fresh exchange whose weights at construction were the
  // anchor; the weights themselves are the caller's to restore.
  LocalState capture();
  void restore(const LocalState& state);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
