// host_part: mode local: what one host alone knows at a checkpoint: its own weights, Adam's
// moments, loss scale and the exchanges under way, on that host's own disk. Sending it to rank 0
// would take the slow link for a minute. A checkpoint is whole without it: then hosts start from
// what they had in common, and the run goes on, but not to the bit.
//
// run/hosts/0-step-00004000/: laid out like a checkpoint (checkpoint_folder.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "cluster/local_exchange.h"
#include "cluster/world.h"
#include "train/checkpoint_folder.h"
#include "train/train_state.h"

namespace tandem {

struct HostPlace {
  fs::path run;
  const World& world;
};

// common: the weights of the checkpoint, by which a part is known to belong to it. The newest two
// parts of a host are kept. One that cannot be written whole is not there at all. Tensors may lie
// on any device. written: called after every piece.
void write_host_part(
    const HostPlace& place, const TrainState& state, const Tensor& common, const FlatParams& layout,
    const TrainTensors& tensors, const LocalState& local,
    const std::function<void()>& written = [] {});

// Empty: this host has a whole part of that checkpoint; else why it has none.
std::string host_part_problem(const HostPlace& place, std::int64_t step, const Tensor& common);
// state: of the checkpoint; what a host counts for itself becomes its own.
LocalState read_host_part(const HostPlace& place, TrainState& state, const FlatParams& layout,
                          const TrainTensors& tensors);

}  // namespace tandem
