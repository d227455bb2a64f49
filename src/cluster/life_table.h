// life_table: when each worker last gave a sign of life, and what it was doing; from that, who is
// lost. Pure: time comes in. A cause is one sentence:
//   "host-b rank 3 (pid 4711) stopped answering in phase exchange at step 120"
// A worker may answer and still be stuck: its heartbeat has a thread of its own. With patience
// (mode local survives a cut link) silence is first told, and a cause only later.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/tcp.h"

namespace tandem {

class LifeTable {
 public:
  // stuck_after: see stuck().
  explicit LifeTable(std::chrono::milliseconds timeout,
                     std::chrono::milliseconds stuck_after = std::chrono::minutes(1))
      : timeout_(timeout), stuck_after_(stuck_after) {}

  void joined(int rank, const std::string& name, SteadyTime now);
  void sign(int rank, SteadyTime now, std::int64_t step, const std::string& phase);
  void left(int rank);  // said goodbye; may close its connection

  // The cause when the connection of a worker ended; empty when it had left.
  std::string ended(int rank);

  // The cause when somebody was silent for too long, else empty. Those who are about to be too are
  // named with them: a cut cable silences all workers of a host, each at its own moment.
  std::string silent(SteadyTime now);

  // The cause when somebody has done its own work of one step, or was in an exchange that others
  // are done with, for longer than stuck_after and ten times as long as anybody before worked,
  // while another waits for it. A first step may take ten times stuck_after.
  std::string stuck(SteadyTime now) const;

  // From here on somebody is given up after so long; before, news() tells who is silent.
  void be_patient(std::chrono::milliseconds patience) { patience_ = patience; }
  // With patience: who was not heard of for the timeout, and who was heard of again.
  std::vector<std::string> news(SteadyTime now);

  // This process itself did not run for a while; nobody else is to blame for the gap.
  void forgive(std::chrono::steady_clock::duration gap);

  bool all_left() const;

 private:
  struct Life {
    std::string name;
    SteadyTime last, since;  // when it gave a sign, and when it began what it does
    std::int64_t step = 0;
    std::string phase = "start";
    bool left = false;
    bool told_silent = false;
  };
  std::chrono::milliseconds timeout_, stuck_after_, patience_{0};
  std::chrono::steady_clock::duration longest_work_{0};  // of anybody in one step, so far
  std::map<int, Life> workers_;
};

// "host-b rank 3 (pid 4711) {what} in phase exchange at step 120"
std::string lost_sentence(const std::string& name, const std::string& what,
                          const std::string& phase, std::int64_t step);

}  // namespace tandem
