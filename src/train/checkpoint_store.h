// checkpoint_store: saves a run while it goes on. save() copies the tensors and returns; a thread
// writes them, moves the pointer `latest`, and deletes what is too old. A save that fails is
// reported, never thrown: training goes on and the next one tries again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/run_config.h"
#include "observe/records.h"
#include "train/checkpoint_folder.h"
#include "train/run_folder.h"

namespace tandem {

// What makes the weights of a run a model that can be used by itself.
struct ModelFiles {
  RunConfig config;
  std::string vocab_model;  // bytes of the SentencePiece model
};

struct SaveRequest {
  bool checkpoint = false;
  std::optional<BestModel> best;  // save the weights as one of the best models
  TrainState state;
  Json settings;  // goes into state.json beside the state
};

struct SaveOutcome {
  CheckpointRecord record;
  bool is_checkpoint = false;
  std::string failure;  // empty: it is on disk
};

// A buffer for a save; its memory goes back to the system with the last reference to it.
Tensor passing_floats(std::int64_t count);

// See steps_to_delete. Also those that a killed process left half-written: a host that is sent
// checkpoints holds no RunLock.
void delete_old_checkpoints(const RunFolder& run, std::int64_t keep, std::int64_t saved);

class CheckpointStore {
 public:
  // layout outlives the store; only its slots are used. written: called by the thread after every
  // piece that went to the disk, for who must know that it comes on.
  CheckpointStore(
      RunFolder run, ModelFiles files, const FlatParams& layout,
      std::function<void()> written = [] {});
  ~CheckpointStore();  // writes what was asked for, first
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  // Waits for the save before, if that is still being written.
  void save(SaveRequest request, const TrainTensors& tensors);
  // The same with tensors that are nowhere yet: fill() makes them, as passing_floats(), which the
  // store drops when they are on disk.
  void save(SaveRequest request, const std::function<void(TrainTensors&)>& fill);
  void wait();  // until nothing is being written
  void wait_for(std::chrono::seconds most);
  std::vector<SaveOutcome> finished();   // since the last call
  void forget_after(std::int64_t step);  // those saved later, which were deleted again

 private:
  void start(SaveRequest request, double pause_seconds);
  void work();
  SaveOutcome write(const SaveRequest& request);
  void write_best(const TrainState& state);
  void keep_newest();
  void delete_old(const TrainState& state) const;

  const RunFolder run_;
  const ModelFiles files_;
  const FlatParams& layout_;
  const std::function<void()> written_;
  TrainTensors copy_;    // reused, so that a save does not wait for fresh memory
  bool filled_ = false;  // by fill(): not reused
  struct Unwritten {
    BestModel model;
    Tensor weights;
  };
  std::vector<Unwritten> unwritten_;  // the newest, and those whose save failed

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<SaveRequest> request_;  // being written
  double pause_seconds_ = 0;
  std::vector<SaveOutcome> finished_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tandem
