// run_files: what the hosts of a run send each other because they share no disk: the dataset before
// the start (data.distribute), the newest checkpoint to rank 0's host before a resume, and copies
// of checkpoints to a second host while training goes on (checkpoint.mirror). Within one host
// nothing is sent and nothing listens.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/run_mirror.h"
#include "cli/run_team.h"
#include "cluster/folder_receiver.h"
#include "train/course.h"
#include "train/resume.h"

namespace tandem {

class HostFiles {
 public:
  // All workers make one; it outlives whatever any host may still send.
  HostFiles(Team& team, const RunConfig& config, const std::atomic<bool>& stop);

  // data.distribute: afterwards every host has the datasets of rank 0's host. All workers call it.
  void share_datasets();

  // Where the run goes on, for rank 0. With choice "auto" the newest whole checkpoint of all hosts
  // is brought to rank 0's host first. All workers call it.
  ResumePoint resume_point(const std::string& choice);

  // checkpoint.mirror, on rank 0 of several hosts; else nothing. events outlives it.
  std::unique_ptr<CheckpointMirror> mirror(Observer& events);

  Course& course() { return course_; }  // of the checkpoints that arrive here

  // What was sent or could not be, for the journal of rank 0.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  bool leads() const { return team_.world().is_leader(); }
  bool several_hosts() const { return team_.world().hosts() > 1; }
  FolderPlace place_of(const FolderOffer& offer);
  FolderPlace place_of_checkpoint(const FolderOffer& offer);
  SendSetting line_to(int host);
  void share_dataset(std::int64_t number);
  std::string sound_dataset(const std::string& path);
  void send_dataset_to(int host, const FolderOffer& offer);
  void bring_checkpoint(const ResumePoint& own, int owner, std::int64_t step);
  std::string wait_for(const std::string& key);

  Team& team_;
  const RunConfig& config_;
  const RunFolder run_;
  const std::vector<std::string> datasets_;  // an offer names one by its number
  const std::atomic<bool>& stop_;
  std::atomic<std::int64_t> fetched_step_ = -1;  // rank 0 expects this checkpoint
  std::vector<std::string> notes_;
  Course course_;
  std::unique_ptr<FolderReceiver> receiver_;  // of leaders of several hosts
};

}  // namespace tandem
