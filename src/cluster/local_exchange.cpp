#include "cluster/local_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "cluster/comm_text.h"
#include "cluster/host_lane.h"
#include "cluster/local_courier.h"
#include "cluster/local_news.h"
#include "cluster/predict.h"
#include "cluster/side_thread.h"
#include "cluster/staging.h"
#include "cluster/wire_codec.h"

namespace tandem {
namespace {

constexpr std::int64_t kTold = 4;  // numbers: stop, seconds, replan, diverged

// What a step computes: the median of the last ones. The first ones touch memory for the first time
// and take many times as long; until enough others are known, what was planned with counts.
class UsualStep {
 public:
  explicit UsualStep(double planned) : planned_(planned) {}

  void heard(double seconds) {
    if (seconds <= 0) return;
    if (first_ < kFirst) {
      ++first_;
      return;
    }
    last_.push_back(seconds);
    if (last_.size() > kLast) last_.pop_front();
  }

  // 0: not known.
  double seconds() const {
    if (last_.empty() || (planned_ > 0 && last_.size() < kEnough)) return planned_;
    std::vector<double> sorted(last_.begin(), last_.end());
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }

 private:
  static constexpr std::size_t kFirst = 3, kEnough = 5, kLast = 20;
  double planned_;
  std::size_t first_ = 0;
  std::deque<double> last_;
};

void tell(const std::vector<HostNews>& news, double* numbers) {
  for (const HostNews& its : news) {
    numbers[0] += its.stop ? 1 : 0;
    numbers[3] += its.diverged ? 1 : 0;
  }
  numbers[1] = news.front().seconds;
  numbers[2] = static_cast<double>(news.front().replan);
}

}  // namespace

double local_momentum(int hosts) {
  if (hosts < 4) return 0;
  return hosts < 8 ? 0.2 : hosts < 16 ? 0.5 : 0.6;
}

class LocalExchange::Impl {
 public:
  Impl(Comm& comm, LocalBuffers buffers, const LocalSetting& setting, std::int64_t step)
      : comm_(comm),
        buffers_(std::move(buffers)),
        setting_(setting),
        schedule_(setting.rhythm, step),
        compute_(setting.basis.compute_seconds),
        fragments_(cut_evenly(buffers_.weights.numel(), kLocalFragments)) {
    const std::int64_t size = buffers_.weights.numel();
    at::Tensor others;
    if (setting.memory != nullptr) {
      lane_ = memory_lane(comm, *setting.memory, LaneSum::for_leader, [] { return false; });
      const std::span<float> memory = setting.memory->floats(0);
      check(std::ssize(memory) >= 2 * size, "room for what comes back, behind the gradients");
      others = at::from_blob(memory.data() + size, {size});
      mail_begin_ = size;
    } else {
      lane_ = comm_lane(comm, buffers_.gradients, LaneSum::for_leader);
    }
    if (!comm.world().is_leader()) return;
    watch_ = LinkWatch::planned_with(setting.basis.bytes_per_second);
    weights_ = std::make_unique<Staging>(buffers_.weights, setting.as_on_gpu);
    anchor_ = buffers_.weights.detach().to(at::kCPU, at::kFloat, false, true);
    if (setting.momentum > 0) momentum_ = at::zeros_like(anchor_);
    if (!others.defined()) others = zeros_beside(buffers_.weights.device(), size);
    courier_ =
        std::make_unique<LocalCourier>(comm, others, buffers_.slots, fragments_, setting.format);
    side_ = std::make_unique<SideThread>();
  }

  void before_update() {
    if (side_) side_->wait();
  }

  Stats after_update(std::int64_t step, const News& own) {
    const at::NoGradGuard no_gradient;
    compute_.heard(own.compute_seconds);
    Stats stats;
    if (own.stop && courier_ && setting_.on_stop) {
      std::exchange(setting_.on_stop, nullptr)(schedule_.next_heard(step));
    }
    settle();  // of the step before: nobody had to wait for it then
    const std::vector<std::size_t> due = schedule_.take_due(step);
    if (!due.empty()) add(due, stats);
    for (const std::size_t fragment : schedule_.take_leaving(step)) {
      if (!courier_) continue;
      if (std::ranges::find(due, fragment) != due.end()) settle();
      leave(fragment, {step, own.stop, own.diverged, own.seconds, wish_});
      wish_ = 0;
    }
    return stats;
  }

  at::Tensor common() {
    const at::NoGradGuard no_gradient;
    before_update();
    if (comm_.size(Group::host) == 1) return anchor_;
    if (courier_) buffers_.gradients.copy_(anchor_);
    lane_->down({0, buffers_.gradients.numel(), 0, 0});
    lane_->settle();
    return courier_ ? anchor_ : buffers_.gradients;
  }

  const at::Tensor& anchor() const {
    if (side_) side_->wait();
    return anchor_;
  }

  LocalState capture() {
    LocalState state;
    state.schedule = schedule_.json();
    if (!courier_) return state;
    before_update();
    at::Tensor mean = at::zeros_like(anchor_), others = at::zeros_like(anchor_);
    Json news = Json::array();
    for (const LocalParcel& parcel : courier_->arrived()) {
      part(mean, parcel.fragment).copy_(parcel.mean);
      part(others, parcel.fragment).copy_(parcel.others);
      news.push(news_json(parcel.news));
    }
    state.schedule.set("news", std::move(news)).set("link", watch_.usual());
    state.schedule.set("wish", wish_);
    state.arrays = {mean, others};
    if (!courier_->kept().empty()) state.arrays.push_back(kept().clone());
    if (momentum_.defined()) state.arrays.push_back(momentum_.clone());
    return state;
  }

  void restore(const LocalState& state) {
    // The leaders' news are those of all; the first host's workers need no more than the schedule.
    const Json schedule =
        Json::parse(text_of_first(comm_, state.schedule.dump()), "the schedule of exchanges");
    schedule_ = LocalSchedule(schedule);
    if (schedule_.rhythm() != setting_.rhythm) schedule_.change(setting_.rhythm);
    if (!courier_) return;
    // A link that changed while nothing ran has changed, too.
    const Json* usual = state.schedule.find("link");
    if (usual != nullptr && usual->as_double() > 0) watch_ = LinkWatch(usual->as_double());
    if (const Json* wish = state.schedule.find("wish")) wish_ = stored_wish(*wish);
    check_arrays(state.arrays.size());
    std::size_t next = 2;
    if (!courier_->kept().empty()) kept().copy_(state.arrays[next++]);
    if (momentum_.defined()) momentum_.copy_(state.arrays[next]);
    const Json::Array& news = schedule.at("news").items();
    const auto under_way = schedule_.under_way();
    if (news.size() != under_way.size()) {
      throw UserError(
          format("the schedule of exchanges is damaged: it has news of {} fragments instead of {}",
                 news.size(), under_way.size()));
    }
    for (std::size_t i = 0; i < under_way.size(); ++i) {
      LocalParcel parcel;
      parcel.fragment = under_way[i];
      parcel.mean = part(state.arrays[0], under_way[i]);
      parcel.others = part(state.arrays[1], under_way[i]);
      parcel.news = news_from(news[i], comm_.size(Group::leaders));
      courier_->put(parcel);
    }
  }

 private:
  // Those of capture(), which depend on the settings.
  void check_arrays(std::size_t count) const {
    const std::size_t wanted = 2u + (courier_->kept().empty() ? 0 : 1) + momentum_.defined();
    if (count == wanted) return;
    throw UserError(
        format("this host's part of the checkpoint has {} arrays instead of {}; set "
               "cluster.local_momentum as it was, or delete the run's folder hosts to go on from "
               "what all hosts had in common",
               count, wanted));
  }

  at::Tensor part(const at::Tensor& buffer, std::size_t fragment) const {
    return buffer.narrow(0, fragments_[fragment].begin, fragments_[fragment].size());
  }
  at::Tensor kept() const {
    const std::span<float> floats = courier_->kept();
    return at::from_blob(floats.data(), {static_cast<std::int64_t>(floats.size())});
  }

  // On the device of the weights; numbers that are there already stay where they are.
  at::Tensor beside_weights(const at::Tensor& numbers) const {
    return numbers.to(buffers_.weights.device(), at::kFloat, false, setting_.as_on_gpu);
  }

  bool alone() const { return comm_.size(Group::host) == 1; }
  static std::span<float> floats(const at::Tensor& tensor) {
    return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
  }

  // Nothing of a step needs the change or the anchor, so they are computed beside it, in memory:
  // the other thread knows no GPU.
  void leave(std::size_t fragment, const HostNews& news) {
    weights_->fetch({fragments_[fragment].begin, fragments_[fragment].end});
    side_->give([this, fragment, news] {
      subtract_floats(floats(part(weights_->in_memory(), fragment)),
                      floats(part(anchor_, fragment)), floats(courier_->change(fragment)));
      courier_->send(fragment, news);
    });
  }

  // What came back of fragments, on all workers of the host.
  void add(const std::vector<std::size_t>& due, Stats& stats) {
    std::vector<LocalParcel> parcels;
    const at::Tensor numbers =
        at::zeros({static_cast<std::int64_t>(due.size()), kTold}, at::kDouble);
    if (courier_) {
      for (const std::size_t fragment : due) {
        parcels.push_back(fetch(fragment, stats));
        tell(parcels.back().news,
             numbers.mutable_data_ptr<double>() + (std::ssize(parcels) - 1) * kTold);
      }
    }
    comm_.broadcast(numbers, Group::host);
    for (std::size_t i = 0; i < due.size(); ++i) {
      add_one(due[i], parcels.empty() ? nullptr : &parcels[i]);
    }
    for (std::int64_t i = 0; i < std::ssize(due); ++i) {
      hear(numbers.const_data_ptr<double>() + i * kTold, stats);
    }
  }

  // parcel: of the leader, who adds while the others take theirs.
  void add_one(std::size_t fragment, const LocalParcel* parcel) {
    at::Tensor others;
    if (parcel != nullptr) others = beside_weights(parcel->others);
    if (!alone()) {
      const Bucket& at = fragments_[fragment];
      if (parcel != nullptr && mail_begin_ == 0) {
        part(buffers_.gradients, fragment).copy_(others);
      }
      lane_->add_down({mail_begin_ + at.begin, mail_begin_ + at.end, 0, 0},
                      part(buffers_.weights, fragment));
      unsettled_ = true;
    }
    if (parcel == nullptr) return;
    part(buffers_.weights, fragment).add_(others);
    side_->give([to = part(anchor_, fragment), mean = parcel->mean] {
      add_floats(floats(mean), floats(to));
    });
  }

  // Nobody looks at what came back any more: the next may be written over it.
  void settle() {
    if (unsettled_) lane_->settle();
    unsettled_ = false;
  }

  // In words that others' processors round alike: one operation at a time.
  LocalParcel fetch(std::size_t fragment, Stats& stats) {
    LocalParcel parcel = courier_->fetch();
    check(parcel.fragment == fragment, "fragments come back in the order in which they left");
    stats.bytes_out += parcel.bytes_out;
    stats.bytes_in += parcel.bytes_in;
    watch(parcel, stats);
    if (momentum_.defined()) {
      const at::Tensor before = part(momentum_, fragment).mul_(setting_.momentum);
      parcel.others.add_(before);
      parcel.mean = part(momentum_, fragment).add_(parcel.mean);
    }
    return parcel;
  }

  void hear(const double* numbers, Stats& stats) {
    const News before = stats.agreed.value_or(News{});
    stats.agreed = {before.stop || numbers[0] > 0, before.diverged || numbers[3] > 0, numbers[1],
                    0};
    const auto steps = static_cast<std::int64_t>(numbers[2]);
    if (steps == 0 || steps == schedule_.rhythm().steps) return;
    stats.rhythm = rhythm_of(steps, setting_.delay);
    schedule_.change(*stats.rhythm);
  }

  // A link that changed for good, or is not what was planned with: the first host plans anew, all
  // hear of it with its next fragment.
  void watch(const LocalParcel& parcel, Stats& stats) {
    const auto change = watch_.heard(parcel.bytes_in, parcel.seconds);
    if (change) stats.link = change;
    const double compute = compute_.seconds();
    if (!change || !setting_.follows_link || !comm_.first() || compute <= 0) return;
    const double bytes = static_cast<double>(parcel.bytes_out) * kLocalFragments;
    const double seconds = bytes / change->is + setting_.basis.latency_seconds;
    wish_ = std::max(local_steps_that_hide(seconds, compute), setting_.basis.fewest_steps);
  }

  Comm& comm_;
  LocalBuffers buffers_;
  LocalSetting setting_;
  LocalSchedule schedule_;
  UsualStep compute_;
  std::vector<Bucket> fragments_;
  std::unique_ptr<HostLane> lane_;
  std::int64_t mail_begin_ = 0;  // in the host's memory: behind the gradients; 0: there is none
  bool unsettled_ = false;       // a worker may still be adding
  std::int64_t wish_ = 0;        // of the first: steps between exchanges, not told yet
  // Of leaders:
  std::unique_ptr<Staging> weights_;
  at::Tensor anchor_, momentum_;
  LinkWatch watch_;
  std::unique_ptr<LocalCourier> courier_;
  std::unique_ptr<SideThread> side_;  // gives work to the courier: ends before it
};

LocalExchange::LocalExchange(Comm& comm, LocalBuffers buffers, const LocalSetting& setting,
                             std::int64_t step)
    : impl_(std::make_unique<Impl>(comm, std::move(buffers), setting, step)) {}

LocalExchange::~LocalExchange() = default;

void LocalExchange::before_update() {
  impl_->before_update();
}

LocalExchange::Stats LocalExchange::after_update(std::int64_t step, const News& own) {
  return impl_->after_update(step, own);
}

at::Tensor LocalExchange::common() {
  return impl_->common();
}

const at::Tensor& LocalExchange::anchor() const {
  return impl_->anchor();
}

LocalState LocalExchange::capture() {
  return impl_->capture();
}

void LocalExchange::restore(const LocalState& state) {
  impl_->restore(state);
}

}  // namespace tandem
