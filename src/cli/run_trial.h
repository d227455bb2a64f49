// run_trial: how long computing and exchanging take on this machine, tried before a run starts.
// Nothing that is trained changes: weights stay, gradients end as zeros.
#pragma once

#include <functional>

#include "cli/step_facts.h"
#include "cluster/comm.h"
#include "cluster/link_codec.h"
#include "cluster/step_model.h"
#include "cluster/store.h"
#include "config/cluster_config.h"
#include "config/run_config.h"
#include "data/mixture.h"
#include "model/transformer.h"

namespace tandem {

// Forward and backward of this worker's part of a step: a small and a larger batch in turn for so
// many seconds, which tell what a batch and what an operation cost. A model too slow for batches
// that tell anything is tried with one layer on each side and fewer words. The optimizer on a
// buffer of its own.
ComputeSeconds try_compute(Transformer& model, const Mixture& corpus, const RunConfig& config,
                           const StepTokens& tokens, double seconds);

// The exchange of so many values in their buckets, for preflight: all workers call it together.
// comm and store outlive it.
std::function<double(double values)> exchange_trial(Comm& comm, Store& store, LinkFormat format);

}  // namespace tandem
