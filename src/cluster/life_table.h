// life_table: when each worker last gave a sign of life, and what it was doing; from that, who is
// lost. Pure: time comes in. A cause is one sentence:
//   "host-b rank 3 (pid 4711) stopped answering in phase exchange at step 120"
// A worker may answer and still be stuck: its heartbeat has a thread of its own. It is found by
// what it gets done, not by how long it takes. With patience (mode local survives a cut link)
// silence is first told, and a cause only later.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/phase.h"
#include "cluster/tcp.h"

namespace tandem {

// What a worker says of itself.
struct LifeSign {
  std::int64_t step = 0;
  std::string phase = "start";
  std::int64_t ticks = 0;  // grow with whatever it gets done
  bool waits = false;      // for others, who have not done their part yet
  bool operator==(const LifeSign&) const = default;
};

class LifeTable {
 public:
  // stuck_after: see stuck().
  explicit LifeTable(std::chrono::milliseconds timeout,
                     std::chrono::milliseconds stuck_after = std::chrono::minutes(1))
      : timeout_(timeout), stuck_after_(stuck_after) {}

  void joined(int rank, const std::string& name, SteadyTime now);
  void sign(int rank, SteadyTime now, const LifeSign& sign);
  void left(int rank);  // said goodbye; may close its connection

  // The cause when the connection of a worker ended; empty when it had left.
  std::string ended(int rank);

  // The cause when somebody was silent for too long, else empty. Those who are about to be too are
  // named with them: a cut cable silences all workers of a host, each at its own moment.
  std::string silent(SteadyTime now);

  // The cause when somebody who waits for nobody got nothing done for longer than stuck_after and
  // ten times as long as anybody before in such a phase, while another has waited for stuck_after.
  // Where nobody has been through such a phase yet, and where a disk may be what takes its time, it
  // is ten times stuck_after. Or when all wait for each other and nobody gets anything done for ten
  // times stuck_after: then nobody can be singled out.
  std::string stuck(SteadyTime now) const;

  // From here on somebody is given up after so long; before, news() tells who is silent.
  void be_patient(std::chrono::milliseconds patience) { patience_ = patience; }
  // With patience: who is not heard of now, in a sentence; empty: all are.
  std::string unheard(SteadyTime now) const;
  // With patience: who was not heard of for the timeout, and who was heard of again.
  std::vector<std::string> news(SteadyTime now);

  // This process itself did not run for a while; nobody else is to blame for the gap.
  void forgive(std::chrono::steady_clock::duration gap);

  bool all_left() const;
  bool writes(int rank) const;  // may be writing, by its last word

 private:
  struct Life {
    std::string name;
    SteadyTime last, since;  // when it gave a sign, and when it got something done
    LifeSign said;
    bool left = false;
    bool told_silent = false;
  };
  using Duration = std::chrono::steady_clock::duration;
  // How long anybody got nothing done without waiting for others, so far.
  struct Pause {
    Duration longest{0};
    bool known = false;  // somebody has been through all of such a phase
  };

  bool answers(const Life& life, SteadyTime now) const;
  Duration most(PhaseKind kind) const;
  std::string all_stuck(SteadyTime now) const;

  std::chrono::milliseconds timeout_, stuck_after_, patience_{0};
  std::map<PhaseKind, Pause> pauses_;
  std::map<int, Life> workers_;
};

// "host-b rank 3 (pid 4711) {what} in phase exchange at step 120"
std::string lost_sentence(const std::string& name, const std::string& what,
                          const std::string& phase, std::int64_t step);

}  // namespace tandem
