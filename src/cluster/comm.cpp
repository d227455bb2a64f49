#include "cluster/comm.h"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/format.h"
#include "cluster/closed_door.h"
#include "cluster/even_links.h"
#include "cluster/own_sockets.h"

namespace tandem {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using BackendPtr = c10::intrusive_ptr<c10d::Backend>;

// Our store as c10d wants it. Every group gets keys of its own.
class StoreForC10d final : public c10d::Store {
 public:
  StoreForC10d(tandem::Store& store, std::string prefix, std::chrono::milliseconds timeout)
      : c10d::Store(timeout), store_(store), prefix_(std::move(prefix)) {}

  c10::intrusive_ptr<c10d::Store> clone() override {
    return c10::make_intrusive<StoreForC10d>(store_, prefix_, timeout_);
  }
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    store_.set(prefix_ + key, std::string(value.begin(), value.end()));
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    const std::string value = store_.get(prefix_ + key, timeout_);
    return {value.begin(), value.end()};
  }
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    return store_.add(prefix_ + key, amount);
  }
  bool deleteKey(const std::string& key) override {
    const bool there = store_.has(prefix_ + key);
    store_.erase(prefix_ + key);
    return there;
  }
  bool check(const std::vector<std::string>& keys) override {
    return std::ranges::all_of(keys, [&](const auto& key) { return store_.has(prefix_ + key); });
  }
  std::int64_t getNumKeys() override { throw InternalError("the store does not count its keys"); }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    for (const std::string& key : keys) store_.get(prefix_ + key, timeout);
  }

 private:
  tandem::Store& store_;
  std::string prefix_;
};

std::string reason_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  std::string text = ours != nullptr ? ours->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

constexpr std::array<std::string_view, 3> kGroupNames = {"all workers", "the workers of this host",
                                                         "the hosts' leaders"};

// Runs the work; whatever c10d throws becomes one sentence.
template <class Work>
decltype(auto) named(const CommSetting& setting, std::string_view operation, Group group,
                     Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception& error) {
    const std::string text =
        format("{} among {} failed: {}", operation, kGroupNames.at(static_cast<std::size_t>(group)),
               reason_of(error));
    throw EnvError(setting.explain ? setting.explain(text) : text);
  }
}

struct Members {
  std::vector<int> ranks;
  int place = -1;  // of this worker; -1: not among them
};

Members members_of(const World& world, Group group) {
  Members members;
  switch (group) {
    case Group::world:
      for (int rank = 0; rank < world.size(); ++rank) members.ranks.push_back(rank);
      break;
    case Group::host:
      members.ranks = world.ranks_of_host(world.self().host_index);
      break;
    case Group::leaders:
      members.ranks = world.leaders();
      break;
  }
  const auto self = std::ranges::find(members.ranks, world.rank);
  if (self != members.ranks.end()) {
    members.place = static_cast<int>(self - members.ranks.begin());
  }
  return members;
}

std::vector<int> without(std::vector<int> sockets, const std::vector<int>& before) {
  std::erase_if(sockets, [&](int fd) { return std::ranges::find(before, fd) != before.end(); });
  return sockets;
}

}  // namespace

struct PendingMessage::Impl {
  WorkPtr work;
  at::Tensor tensor;
  const CommSetting& setting;
  std::string_view operation;
  Group group;
};

PendingMessage::PendingMessage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PendingMessage::~PendingMessage() = default;
PendingMessage::PendingMessage(PendingMessage&&) noexcept = default;
PendingMessage& PendingMessage::operator=(PendingMessage&&) noexcept = default;

void PendingMessage::wait() {
  // Whether a message has come is not to be known without taking it.
  const WorkSign::Waiting waits(impl_->setting.sign, [] { return false; });
  named(impl_->setting, impl_->operation, impl_->group,
        [&] { impl_->work->wait(impl_->setting.timeout); });
}

// Gloo's device, which listens, and its sockets. One is made at a time, so that they are known.
struct GlooDevice {
  explicit GlooDevice(const std::string& address) {
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    const auto before = listening_sockets();
    device = c10d::ProcessGroupGloo::createDeviceForHostname(address);
    const auto after = listening_sockets();
    if (before && after) sockets = without(*after, *before);
  }
  decltype(c10d::ProcessGroupGloo::createDeviceForHostname({})) device;
  std::optional<std::vector<int>> sockets;  // nothing: the system does not tell
};

struct Comm::Impl {
  // One group: its members and, where it has more than one, its connections.
  struct Circle {
    Members members;
    BackendPtr gloo, nccl;
  };

  World world;
  CommSetting setting;
  std::array<Circle, 3> circles;

  const Circle& circle(Group group) const {
    const Circle& found = circles.at(static_cast<std::size_t>(group));
    check(found.members.place >= 0, "a worker used a group that it is not in");
    return found;
  }
  static bool trivial(const Circle& circle) { return circle.members.ranks.size() == 1; }

  // Starts an operation with the group's backend for this tensor and waits for its end.
  template <class Start>
  void run(std::string_view operation, Group group, const at::Tensor& tensor, Start&& start) {
    const Circle& in = circle(group);
    if (trivial(in)) return;
    named(setting, operation, group, [&] {
      const BackendPtr& backend = tensor.is_cuda() ? in.nccl : in.gloo;
      std::vector<at::Tensor> tensors = {tensor};
      const WorkPtr work = std::forward<Start>(start)(*backend, tensors);
      const WorkSign::Waiting waits(setting.sign, [&] { return work->isCompleted(); });
      work->wait();
    });
  }
};

Comm::Comm(World alone) : impl_(std::make_unique<Impl>()) {
  impl_->world = std::move(alone);
  for (const Group group : {Group::world, Group::host, Group::leaders}) {
    impl_->circles.at(static_cast<std::size_t>(group)).members = members_of(impl_->world, group);
  }
}

Comm::Comm(Store& store, World world, CommSetting setting) : impl_(std::make_unique<Impl>()) {
  impl_->world = std::move(world);
  impl_->setting = std::move(setting);
  const CommSetting& wanted = impl_->setting;
  const auto options = c10d::ProcessGroupGloo::Options::create(wanted.timeout);
  options->threads = 1;  // operations of a group follow each other anyway
  std::optional<GlooDevice> gloo;
  for (const Group group : {Group::world, Group::host, Group::leaders}) {
    Impl::Circle& circle = impl_->circles.at(static_cast<std::size_t>(group));
    circle.members = members_of(impl_->world, group);
    if (circle.members.place < 0 || Impl::trivial(circle)) continue;
    const auto place = circle.members.place;
    const auto size = static_cast<int>(circle.members.ranks.size());
    const std::string prefix =
        format("comm/{}/{}/", static_cast<int>(group), circle.members.ranks.front());
    named(wanted, "meeting", group, [&] {
      if (!gloo) gloo.emplace(wanted.address);
      options->devices = {gloo->device};
      const auto meet = [&](const std::string& backend) {
        return c10::make_intrusive<StoreForC10d>(store, prefix + backend, wanted.timeout);
      };
      const std::vector<int> before = connected_sockets();
      circle.gloo =
          c10::make_intrusive<c10d::ProcessGroupGloo>(meet("gloo/"), place, size, options);
      // Two hosts have a link for each connection.
      if (group == Group::leaders && size > 2) {
        std::ranges::for_each(without(connected_sockets(), before), share_evenly);
      }
      if (wanted.device.is_cuda()) {
#ifdef USE_C10D_NCCL
        circle.nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(meet("nccl/"), place, size);
        circle.nccl->setTimeout(wanted.timeout);
#else
        throw EnvError("this program was built without NCCL (docs/gpu.md says how to build it)");
#endif
      }
    });
  }
  // All have met; who knocks now is a stranger.
  const std::string open = gloo ? close_doors(gloo->sockets) : "";
  if (!open.empty() && wanted.warn) {
    wanted.warn(
        format("Gloo's port at {} stays open to strangers during the run: {}; let a firewall guard "
               "it",
               wanted.address, open));
  }
}

// NCCL's connections want to be ended: in order where all is well, else without waiting for others.
Comm::~Comm() {
  const bool failed = std::uncaught_exceptions() > 0;
  for (const Impl::Circle& circle : impl_->circles) {
    if (!circle.nccl) continue;
    try {
      failed ? circle.nccl->abort() : circle.nccl->shutdown();
    } catch (const std::exception&) {  // nobody is left to be told
    }
  }
}

const World& Comm::world() const {
  return impl_->world;
}

const CommSetting& Comm::setting() const {
  return impl_->setting;
}

int Comm::size(Group group) const {
  return static_cast<int>(impl_->circles.at(static_cast<std::size_t>(group)).members.ranks.size());
}

int Comm::place(Group group) const {
  return impl_->circle(group).members.place;
}

void Comm::all_reduce(const at::Tensor& tensor, Group group) {
  impl_->run("a sum", group, tensor,
             [](c10d::Backend& backend, auto& tensors) { return backend.allreduce(tensors); });
}

void Comm::reduce(const at::Tensor& tensor, Group group) {
  impl_->run("a sum", group, tensor,
             [](c10d::Backend& backend, auto& tensors) { return backend.reduce(tensors); });
}

void Comm::broadcast(const at::Tensor& tensor, Group group) {
  impl_->run("a copy", group, tensor,
             [](c10d::Backend& backend, auto& tensors) { return backend.broadcast(tensors); });
}

std::vector<at::Tensor> Comm::all_gather(const at::Tensor& tensor, Group group) {
  std::vector<std::vector<at::Tensor>> all(1);
  if (size(group) == 1) return {tensor.clone()};
  for (int i = 0; i < size(group); ++i) all[0].push_back(at::empty_like(tensor));
  impl_->run("a gathering", group, tensor, [&](c10d::Backend& backend, auto& tensors) {
    return backend.allgather(all, tensors);
  });
  return std::move(all[0]);
}

void Comm::barrier(Group group) {
  all_reduce(at::zeros({1}), group);
}

PendingMessage Comm::send(const at::Tensor& tensor, int to, int tag, Group group) {
  return named(impl_->setting, "a message", group, [&] {
    std::vector<at::Tensor> tensors = {tensor};
    const Impl::Circle& in = impl_->circle(group);
    return PendingMessage(std::make_unique<PendingMessage::Impl>(PendingMessage::Impl{
        in.gloo->send(tensors, to, tag), tensor, impl_->setting, "a message", group}));
  });
}

PendingMessage Comm::receive(const at::Tensor& tensor, int from, int tag, Group group) {
  return named(impl_->setting, "a message", group, [&] {
    std::vector<at::Tensor> tensors = {tensor};
    const Impl::Circle& in = impl_->circle(group);
    return PendingMessage(std::make_unique<PendingMessage::Impl>(PendingMessage::Impl{
        in.gloo->recv(tensors, from, tag), tensor, impl_->setting, "a message", group}));
  });
}

void Comm::fail(const std::string& what) const {
  throw EnvError(impl_->setting.explain ? impl_->setting.explain(what) : what);
}

}  // namespace tandem
