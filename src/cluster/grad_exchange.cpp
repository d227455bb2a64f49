#include "cluster/grad_exchange.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cluster/grad_exchange_kept.h"
#include "cluster/host_lane.h"
#include "cluster/leader_link.h"
#include "cluster/shard_link.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

// Buckets between leaving and coming back. Their results are not urgent; that the link always has
// the next message at hand is.
constexpr std::size_t kUnderWay = 3;
constexpr auto kGlance = std::chrono::microseconds(20);  // at a GPU that computes

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

class GradExchange::Impl {
 public:
  Impl(Comm& comm, const at::Tensor& gradients, std::vector<GradSlot> slots,
       const ExchangeSetting& setting)
      : comm_(comm), among_(setting.among), shards_(setting.shards), slots_(std::move(slots)) {
    std::vector<GradRange> ranges;
    for (const GradSlot& slot : slots_) ranges.push_back({slot.offset, slot.offset + slot.count});
    buckets_ = plan_buckets(ranges, gradients.numel(),
                            std::max<std::int64_t>(1, setting.bucket_bytes / 4));
    const bool one_host = among_ == Group::host || comm.world().hosts() == 1;
    const LaneSum sum = one_host ? LaneSum::for_all : LaneSum::for_leader;
    lane_ = setting.memory != nullptr
                ? memory_lane(
                      comm, *setting.memory, sum, [this] { return ending_.load(); }, shards_)
                : comm_lane(comm, gradients, sum, shards_);
    // The lane's thread uses the group of the host, unless there is memory.
    totals_last_ = among_ == Group::host && setting.memory == nullptr;
    if (!one_host && comm.world().is_leader()) {
      const LinkPlan plan{setting.format, LinkCargo::gradients, ranges,
                          buckets_,       kUnderWay + 1,        setting.as_on_gpu};
      link_ = shards_.sharded() ? scatter_link(comm, gradients, shards_, plan)
                                : leader_link(comm, gradients, plan);
      if (shards_.sharded()) gather_ = gather_link(comm, gradients, shards_, plan);
    }
    gate_ = setting.gate          ? setting.gate(buckets_.size())
            : gradients.is_cuda() ? gpu_gate(gradients.device(), buckets_.size())
                                  : open_gate();
    start_over();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) watch(slot);
    thread_ = std::thread([this] { work(); });
  }

  ~Impl() {
    for (const GradSlot& slot : slots_) {
      torch::autograd::impl::set_post_acc_grad_hooks(slot.parameter, nullptr);
    }
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void arm() {
    const std::lock_guard lock(mutex_);
    armed_ = true;
  }

  ExchangeStats finish(std::span<double> totals) {
    const auto begin = Clock::now();
    mark_all_ready();
    // Nobody passes this before all have their gradients.
    const at::Tensor sums = at::from_blob(totals.data(), {static_cast<std::int64_t>(totals.size())},
                                          at::TensorOptions().dtype(at::kDouble));
    if (!totals_last_) comm_.all_reduce(sums, among_);
    const auto all_there = Clock::now();
    const std::int64_t before = buckets_back();
    wait_for_thread();
    if (totals_last_) comm_.all_reduce(sums, among_);
    const auto end = Clock::now();

    ExchangeStats stats;
    stats.wait_seconds = seconds_between(begin, all_there);
    stats.exposed_seconds = seconds_between(all_there, end);
    count_bytes(stats);
    stats.exposed_bytes = stats.bytes_in - stats.bytes_in * before / std::ssize(buckets_);
    if (link_ && link_->codec()) link_->codec()->end_step();
    start_over();
    return stats;
  }

  // The thread rests between steps, so lane and links are free.
  ExchangeStats gather(const at::Tensor& own, const at::Tensor& all) {
    const auto begin = Clock::now();
    const at::NoGradGuard no_gradient;
    in_turns(
        [&](std::size_t i) {
          lane_->place(buckets_[i], own);
          if (gather_) gather_->post(buckets_[i]);
          return true;
        },
        [&](std::size_t i) {
          if (gather_) gather_->complete(buckets_[i]);
          lane_->take(buckets_[i], all);
        });
    ExchangeStats stats;
    stats.exposed_seconds = seconds_between(begin, Clock::now());
    count_bytes(stats);
    stats.exposed_bytes = stats.bytes_in;
    return stats;
  }

  void take_back() {
    if (link_ && link_->codec()) link_->codec()->take_back_step();
  }

  void rescale(double factor) {
    if (keeps()) rescale_kept(comm_, *link_->codec(), factor);
  }
  std::vector<at::Tensor> gather_kept() {
    if (!keeps()) return {};
    return tandem::gather_kept(comm_, *link_->codec());
  }
  void restore_kept(const std::vector<at::Tensor>& from) {
    if (keeps()) tandem::restore_kept(comm_, *link_->codec(), buckets_, from);
  }

 private:
  struct Hook final : torch::autograd::PostAccumulateGradHook {
    Hook(Impl& owner_, std::size_t slot_) : owner(owner_), slot(slot_) {}
    void operator()(const at::Tensor&) override { owner.mark_ready(slot); }
    Impl& owner;
    std::size_t slot;
  };
  void watch(std::size_t slot) {
    torch::autograd::impl::set_post_acc_grad_hooks(slots_[slot].parameter,
                                                   std::make_unique<Hook>(*this, slot));
  }

  bool keeps() const { return link_ && link_->codec() && keeps_something(*link_->codec()); }

  // --- which buckets may leave

  void start_over() {
    {
      const std::lock_guard lock(mutex_);
      ready_slots_.assign(slots_.size(), false);
      ready_buckets_ = came_back_ = 0;
      armed_ = false;
      done_ = false;
    }
    changed_.notify_all();
  }

  void mark_ready(std::size_t slot) {
    {
      const std::lock_guard lock(mutex_);
      if (!armed_) return;  // an earlier micro-batch: more will be added
      ready_slots_[slot] = true;
      if (!count_ready()) return;
    }
    changed_.notify_all();
  }

  void mark_all_ready() {
    {
      const std::lock_guard lock(mutex_);
      while (ready_buckets_ < buckets_.size()) gate_->mark_ready(ready_buckets_++);
    }
    changed_.notify_all();
  }

  // Buckets leave in their fixed order, so one that is not ready holds the later ones.
  bool count_ready() {
    const std::size_t before = ready_buckets_;
    while (ready_buckets_ < buckets_.size()) {
      const Bucket& next = buckets_[ready_buckets_];
      for (std::size_t slot = next.first_slot; slot <= next.last_slot; ++slot) {
        if (!ready_slots_[slot]) return ready_buckets_ != before;
      }
      gate_->mark_ready(ready_buckets_++);
    }
    return ready_buckets_ != before;
  }

  // False: there is no next step.
  bool wait_until_ready(std::size_t bucket) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ready_buckets_ > bucket || ending_; });
    }
    return wait_for_gpu([&] { return gate_->is_ready(bucket); });
  }

  // Looks now and then: who waits for a GPU itself cannot be told that others are gone.
  template <class There>
  bool wait_for_gpu(There&& there) {
    const auto give_up = Clock::now() + comm_.setting().timeout;
    while (!ending_ && !there()) {
      if (Clock::now() > give_up) comm_.fail("a GPU did not come to the end of an exchange");
      std::this_thread::sleep_for(kGlance);
    }
    return !ending_;
  }

  std::int64_t buckets_back() const {
    std::size_t count = 0;
    while (count < came_back_ && gate_->is_back(count)) count += 1;
    return static_cast<std::int64_t>(count);
  }

  // --- the exchange itself, on the thread

  // The same order of calls on all workers, whatever is ready where: nobody waits in a circle.
  // False: there was no next bucket to leave.
  template <class Leave, class ComeBack>
  bool in_turns(Leave&& leave, ComeBack&& come_back) {
    for (std::size_t i = 0; i < buckets_.size() + kUnderWay; ++i) {
      if (i < buckets_.size() && !leave(i)) return false;
      if (i >= kUnderWay && i - kUnderWay < buckets_.size()) come_back(i - kUnderWay);
    }
    lane_->settle();
    return true;
  }

  // False: there is no next step.
  bool walk() {
    const bool whole = in_turns(
        [&](std::size_t i) {
          if (!wait_until_ready(i)) return false;
          lane_->up(buckets_[i]);
          if (link_) link_->post(buckets_[i]);
          return true;
        },
        [&](std::size_t i) {
          if (link_) link_->complete(buckets_[i]);
          gate_->mark_back(i);
          came_back_ = i + 1;
          lane_->down(buckets_[i]);
        });
    if (!whole) return false;
    gate_->mark_back(buckets_.size());
    return wait_for_gpu([&] { return gate_->is_back(buckets_.size()); });
  }

  // Between hosts, since it was counted last.
  void count_bytes(ExchangeStats& stats) {
    std::int64_t out = 0, in = 0;
    for (const LeaderLink* link : {link_.get(), gather_.get()}) {
      out += link != nullptr ? link->bytes_out() : 0;
      in += link != nullptr ? link->bytes_in() : 0;
    }
    stats.bytes_out = out - bytes_out_;
    stats.bytes_in = in - bytes_in_;
    bytes_out_ = out;
    bytes_in_ = in;
  }

  void work() {
    const c10::OptionalStreamGuard stream = gate_->own_stream();
    for (;;) {
      std::exception_ptr failure;
      try {
        if (!walk()) return;
      } catch (...) {
        failure = std::current_exception();
      }
      std::unique_lock lock(mutex_);
      failure_ = failure;
      done_ = true;
      changed_.notify_all();
      if (failure) return;
      changed_.wait(lock, [&] { return !done_ || ending_; });
      if (ending_) return;
    }
  }

  void wait_for_thread() {
    const WorkSign::Waiting waits(comm_.setting().sign, [&] { return done_.load(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.load(); });
    if (failure_) std::rethrow_exception(failure_);
  }

  Comm& comm_;
  Group among_;
  ShardPlan shards_;
  bool totals_last_ = false;
  std::vector<GradSlot> slots_;
  std::vector<Bucket> buckets_;
  std::unique_ptr<HostLane> lane_;
  std::unique_ptr<LeaderLink> link_;    // of leaders, when there are several hosts
  std::unique_ptr<LeaderLink> gather_;  // the same, of sharded state
  std::unique_ptr<BucketGate> gate_;
  std::atomic<std::size_t> came_back_ = 0;     // buckets of this step
  std::int64_t bytes_out_ = 0, bytes_in_ = 0;  // already told

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> ready_slots_;
  std::size_t ready_buckets_ = 0;
  bool armed_ = false;
  std::atomic<bool> done_ = false;  // written under the mutex
  std::exception_ptr failure_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

GradExchange::GradExchange(Comm& comm, const at::Tensor& gradients, std::vector<GradSlot> slots,
                           const ExchangeSetting& setting) {
  if (!comm.alone()) {
    impl_ = std::make_unique<Impl>(comm, gradients, std::move(slots), setting);
  }
}

GradExchange::~GradExchange() = default;

void GradExchange::arm() {
  if (impl_) impl_->arm();
}

ExchangeStats GradExchange::finish(std::span<double> totals) {
  return impl_ ? impl_->finish(totals) : ExchangeStats{};
}

ExchangeStats GradExchange::gather(const at::Tensor& own, const at::Tensor& all) {
  return impl_ ? impl_->gather(own, all) : ExchangeStats{};
}

void GradExchange::take_back() {
  if (impl_) impl_->take_back();
}

void GradExchange::rescale(double factor) {
  if (impl_) impl_->rescale(factor);
}

std::vector<at::Tensor> GradExchange::gather_kept() {
  return impl_ ? impl_->gather_kept() : std::vector<at::Tensor>();
}

void GradExchange::restore_kept(const std::vector<at::Tensor>& kept) {
  if (impl_) impl_->restore_kept(kept);
}

}  // namespace tandem
