// run_trial: how long computing and exchanging take on this machine, tried before a run starts.
// Nothing that is trained changes: weights stay, gradients end as zeros.
#pragma once

#include <functional>

#include "cluster/comm.h"
#include "cluster/step_model.h"
#include "config/cluster_config.h"
#include "config/run_config.h"
#include "data/corpus.h"
#include "model/transformer.h"

namespace tandem {

// Forward and backward of this worker's part of a step (so many target tokens), from batches of
// growing size that take about so many seconds together, and the line through the last two; the
// optimizer on a buffer of its own. At least two batches are tried, however slow the machine.
ComputeSeconds try_compute(Transformer& model, const Corpus& corpus, const RunConfig& config,
                           double tokens, double seconds);

// The exchange of so many values in their buckets, for preflight: all workers call it together.
// comm outlives it.
std::function<double(double values)> exchange_trial(Comm& comm, LinkFormat format);

}  // namespace tandem
