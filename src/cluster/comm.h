// comm: sums, copies and messages of tensors among the workers of a run. c10d (Gloo for tensors in
// memory, NCCL for those on a GPU) stays behind comm.cpp.
//
// All members of a group call the same operations on it in the same order, with tensors of equal
// size and type; a call returns when this worker's part is done, of tensors on a GPU when it is
// asked for on the thread's stream. Different groups may be used by different threads at the same
// time, one group by one thread at a time. A failure is an EnvError that names the operation and
// the group. A group of one answers without a network.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/store.h"
#include "cluster/work_sign.h"
#include "cluster/world.h"

namespace tandem {

// leaders: the first worker of every host; only those may use it.
enum class Group { world, host, leaders };

struct CommSetting {
  std::string address = "127.0.0.1";  // of this worker, where the others reach it
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
  at::Device device = at::kCPU;
  // Called by the thread whose operation failed, with the reason; gives the sentence to end with.
  // The place to wait for the news who is gone: a broken connection names nobody.
  std::function<std::string(const std::string& reason)> explain = {};
  // Told once, in a sentence, when Gloo's port stays open to strangers although all have met.
  std::function<void(const std::string& text)> warn = {};
  WorkSign* sign = nullptr;  // hears of waits for others; outlives all that uses the comm
};

// A message under way. The tensor is kept until it has arrived or left.
class PendingMessage {
 public:
  struct Impl;
  explicit PendingMessage(std::unique_ptr<Impl> impl);
  ~PendingMessage();
  PendingMessage(PendingMessage&&) noexcept;
  PendingMessage& operator=(PendingMessage&&) noexcept;
  void wait();

 private:
  std::unique_ptr<Impl> impl_;
};

class Comm {
 public:
  explicit Comm(World alone = world_of_one());  // of one worker
  // Meets all others in the store, which outlives it.
  Comm(Store& store, World world, CommSetting setting);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  const World& world() const;
  const CommSetting& setting() const;
  int rank() const { return world().rank; }
  int size(Group group = Group::world) const;
  int place(Group group) const;  // of this worker in the group, from 0
  bool alone() const { return world().size() == 1; }
  bool first() const { return rank() == 0; }

  void all_reduce(const at::Tensor& tensor, Group group = Group::world);  // sums, in place
  // The sum ends at the group's first member; what the others hold afterwards is undefined.
  void reduce(const at::Tensor& tensor, Group group);
  // From the group's first member to the others.
  void broadcast(const at::Tensor& tensor, Group group = Group::world);
  // By place in the group.
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor, Group group = Group::world);
  void barrier(Group group = Group::world);

  // To and from a place in the group; these return at once. Messages between two workers meet by
  // tag.
  PendingMessage send(const at::Tensor& tensor, int to, int tag, Group group);
  PendingMessage receive(const at::Tensor& tensor, int from, int tag, Group group);

  // Ends a wait of our own on other workers in the words of a failed operation.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
