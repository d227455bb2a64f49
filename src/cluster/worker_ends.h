// worker_ends: how local workers ended, and what that means for the run as a whole. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem {

// How a worker ended.
struct WorkerEnd {
  int rank = 0;
  std::int64_t pid = 0;
  int exit_code = 0;  // when no signal ended it
  int signal = 0;
  bool stopped_by_us = false;  // it had not ended by itself in time
  std::string words = {};      // what it printed last; not of rank 0, who speaks for itself
};

// What the whole means. ends: in the order in which they happened. Rank 0's own words are on the
// screen already, so the message is empty when it has told the cause.
struct SpawnVerdict {
  ExitCode code = ExitCode::ok;
  std::string message;
  std::string cause = {};  // for the journal, whoever has told it; empty: all went well
  bool killed = false;     // a signal of somebody else ended a worker
};
SpawnVerdict verdict_of(const std::vector<WorkerEnd>& ends);

// Everybody ended as asked, some before they could listen to a signal: nothing was begun there.
bool all_ended_as_asked(const std::vector<WorkerEnd>& ends);

}  // namespace tandem
