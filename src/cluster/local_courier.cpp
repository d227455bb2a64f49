#include "cluster/local_courier.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "cluster/leader_link.h"

namespace tandem {
namespace {

constexpr int kNewsTag = 900;  // fragments use small ones
constexpr std::int64_t kNewsNumbers = 6;
// Numbers of a message between two hosts: few enough that all that is done with them is done in the
// processor's cache, or every sum would pass through memory that training needs.
constexpr std::int64_t kPieceNumbers = 1 << 18;

// More hosts than two add up before they share: every piece would cost them a round trip.
std::vector<Bucket> cut_pieces(const Bucket& fragment, int hosts) {
  if (hosts > 2) return {fragment};
  std::vector<Bucket> pieces;
  for (std::int64_t begin = fragment.begin; begin < fragment.end; begin += kPieceNumbers) {
    pieces.push_back({begin, std::min(fragment.end, begin + kPieceNumbers), 0, 0});
  }
  return pieces;
}

at::Tensor news_tensor(std::size_t fragment, const HostNews& news) {
  const at::Tensor numbers = at::empty({kNewsNumbers}, at::kDouble);
  auto* to = numbers.mutable_data_ptr<double>();
  to[0] = static_cast<double>(fragment);
  to[1] = static_cast<double>(news.step);
  to[2] = news.stop ? 1 : 0;
  to[3] = news.seconds;
  to[4] = static_cast<double>(news.replan);
  to[5] = news.diverged ? 1 : 0;
  return numbers;
}

}  // namespace

class LocalCourier::Impl {
 public:
  Impl(Comm& comm, const at::Tensor& others, std::span<const GradRange> slots,
       std::vector<Bucket> fragments, LinkFormat format)
      : comm_(comm),
        fragments_(std::move(fragments)),
        changes_(at::zeros_like(others)),
        own_(others) {
    std::vector<Bucket> all;
    std::size_t most = 1;
    for (const Bucket& fragment : fragments_) {
      pieces_.push_back(cut_pieces(fragment, comm.size(Group::leaders)));
      all.insert(all.end(), pieces_.back().begin(), pieces_.back().end());
      most = std::max(most, pieces_.back().size());
    }
    link_ = leader_link(comm, changes_, {format, LinkCargo::changes, slots, all, most});
    thread_ = std::thread([this] { work(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  at::Tensor change(std::size_t fragment) const { return part(changes_, fragment); }

  void send(std::size_t fragment, const HostNews& news) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({fragment, news});
      ++sent_;
    }
    changed_.notify_all();
  }

  LocalParcel fetch() {
    const std::size_t wanted = ++fetched_;
    const WorkSign::Waiting waits(comm_.setting().sign, [&] { return came_ >= wanted; });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !arrived_.empty() || failure_; });
    if (arrived_.empty()) std::rethrow_exception(failure_);
    LocalParcel parcel = std::move(arrived_.front());
    arrived_.pop_front();
    return parcel;
  }

  std::vector<LocalParcel> arrived() {
    const WorkSign::Waiting waits(comm_.setting().sign, [&] { return came_ >= sent_; });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return (waiting_.empty() && !busy_) || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    return {arrived_.begin(), arrived_.end()};
  }

  void put(const LocalParcel& parcel) {
    LocalParcel here = parcel;
    here.mean = part(changes_, parcel.fragment).copy_(parcel.mean);
    here.others = part(own_, parcel.fragment).copy_(parcel.others);
    const std::lock_guard lock(mutex_);
    arrived_.push_back(std::move(here));
    ++sent_;
    ++came_;
  }

  std::span<float> kept() {
    if (comm_.size(Group::leaders) == 2) return {};
    return link_->codec()->kept(LinkCodec::Sum::all);
  }

 private:
  struct Job {
    std::size_t fragment = 0;
    HostNews news;
  };

  static at::Tensor part(const at::Tensor& buffer, const Bucket& range) {
    return buffer.narrow(0, range.begin, range.size());
  }
  at::Tensor part(const at::Tensor& buffer, std::size_t fragment) const {
    return part(buffer, fragments_[fragment]);
  }

  void work() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        busy_ = false;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !waiting_.empty() || ending_; });
        if (waiting_.empty()) return;
        job = waiting_.front();
        waiting_.pop_front();
        busy_ = true;
      }
      try {
        LocalParcel parcel = carry(job);
        const std::lock_guard lock(mutex_);
        arrived_.push_back(std::move(parcel));
        ++came_;
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        changed_.notify_all();
        return;
      }
    }
  }

  LocalParcel carry(const Job& job) {
    const at::NoGradGuard no_gradient;
    LocalParcel parcel;
    parcel.fragment = job.fragment;
    parcel.mean = part(changes_, job.fragment);
    parcel.others = part(own_, job.fragment);
    parcel.news = all_news(job);  // all have theirs ready now: the rest is the link's time
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t out = link_->bytes_out(), in = link_->bytes_in();
    for (const Bucket& piece : pieces_[job.fragment]) link_->post(piece);
    for (const Bucket& piece : pieces_[job.fragment]) {
      at::Tensor mean = part(changes_, piece), others = part(own_, piece);
      link_->take_sent(piece);
      others.copy_(mean);
      link_->complete(piece);
      mean.div_(comm_.size(Group::leaders));
      at::sub_out(others, mean, others);
    }
    parcel.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    parcel.bytes_out = link_->bytes_out() - out;
    parcel.bytes_in = link_->bytes_in() - in;
    return parcel;
  }

  std::vector<HostNews> all_news(const Job& job) {
    const at::Tensor own = news_tensor(job.fragment, job.news);
    std::vector<PendingMessage> transfers;
    std::vector<at::Tensor> told;
    const int here = comm_.place(Group::leaders);
    for (int host = 0; host < comm_.size(Group::leaders); ++host) {
      told.push_back(host == here ? own : at::empty_like(own));
      if (host == here) continue;
      transfers.push_back(comm_.receive(told.back(), host, kNewsTag, Group::leaders));
      transfers.push_back(comm_.send(own, host, kNewsTag, Group::leaders));
    }
    for (PendingMessage& transfer : transfers) transfer.wait();
    std::vector<HostNews> news;
    for (const at::Tensor& numbers : told) {
      const auto* from = numbers.const_data_ptr<double>();
      const HostNews its{static_cast<std::int64_t>(from[1]), from[2] > 0, from[5] > 0, from[3],
                         static_cast<std::int64_t>(from[4])};
      const bool in_step =
          static_cast<std::size_t>(from[0]) == job.fragment && its.step == job.news.step;
      if (!in_step) comm_.fail("two hosts exchange weights of different steps");
      news.push_back(its);
    }
    return news;
  }

  Comm& comm_;
  std::vector<Bucket> fragments_;
  std::vector<std::vector<Bucket>> pieces_;  // by fragment
  at::Tensor changes_, own_;                 // become mean and others, fragment by fragment
  std::unique_ptr<LeaderLink> link_;         // of the thread, while it is busy

  // Parcels so far, for who asks whether this host waits for others.
  std::atomic<std::size_t> sent_ = 0, came_ = 0, fetched_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::deque<LocalParcel> arrived_;
  std::exception_ptr failure_;
  bool busy_ = true, ending_ = false;
  std::thread thread_;
};

LocalCourier::LocalCourier(Comm& comm, const at::Tensor& others, std::span<const GradRange> slots,
                           std::vector<Bucket> fragments, LinkFormat format)
    : impl_(std::make_unique<Impl>(comm, others, slots, std::move(fragments), format)) {}

LocalCourier::~LocalCourier() = default;

at::Tensor LocalCourier::change(std::size_t fragment) {
  return impl_->change(fragment);
}

void LocalCourier::send(std::size_t fragment, const HostNews& news) {
  impl_->send(fragment, news);
}

LocalParcel LocalCourier::fetch() {
  return impl_->fetch();
}

std::vector<LocalParcel> LocalCourier::arrived() {
  return impl_->arrived();
}

void LocalCourier::put(const LocalParcel& parcel) {
  impl_->put(parcel);
}

std::span<float> LocalCourier::kept() {
  return impl_->kept();
}

}  // namespace tandem
