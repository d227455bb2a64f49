// run_folder: where the files of a run lie, and the lock that lets one process at a time write
// them.
#pragma once

#include <cstdint>
#include <map>

#include "base/files.h"
#include "train/train_state.h"

namespace tandem {

class RunFolder {
 public:
  explicit RunFolder(fs::path root) : root_(std::move(root)) {}
  const fs::path& root() const { return root_; }
  fs::path config() const { return root_ / "config.yaml"; }
  fs::path journal() const { return root_ / "journal.jsonl"; }
  fs::path samples() const { return root_ / "samples.txt"; }
  fs::path log(int rank) const {
    return root_ / "logs" / ("rank-" + std::to_string(rank) + ".log");
  }
  fs::path checkpoints() const { return root_ / "checkpoints"; }
  fs::path latest() const { return checkpoints() / "latest"; }
  fs::path checkpoint(std::int64_t step) const;
  fs::path best() const { return root_ / "best"; }
  fs::path tensorboard() const { return root_ / "tensorboard"; }
  fs::path hosts() const { return root_ / "hosts"; }  // what a host has of its own (host_part.h)
  fs::path model() const { return root_ / "model"; }
  fs::path exports() const { return root_ / "export"; }

  // What is there, by step; nothing is checked.
  std::map<std::int64_t, fs::path> list_checkpoints() const;
  std::map<fs::path, BestModel> list_best() const;

 private:
  fs::path root_;
};

// On every host: the folders that any worker writes to. One of a run's folders that is a link:
// UserError.
void make_run_folders(const RunFolder& run);

// Makes the folders and holds the run for this process, which is rank 0: the others of its host
// share the folder with it. Another one that has it: UserError with its number. (The lock is the
// system's, so a killed process leaves none behind.) What a killed one left half-written is
// deleted.
class RunLock {
 public:
  explicit RunLock(const RunFolder& run);

 private:
  FileDescriptor fd_;
};

}  // namespace tandem
