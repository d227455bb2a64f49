#include "cluster/leader_link.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "cluster/staging.h"

namespace tandem {
namespace {

std::span<std::uint8_t> bytes_of(const at::Tensor& message) {
  return {message.mutable_data_ptr<std::uint8_t>(), static_cast<std::size_t>(message.numel())};
}
std::span<float> floats_of(const at::Tensor& numbers) {
  return {numbers.mutable_data_ptr<float>(), static_cast<std::size_t>(numbers.numel())};
}

// For numbers in memory, or that are brought there. Loops of our own, not Torch's: those would
// start threads beside the ones that compute.
class MessageLink final : public LeaderLink {
 public:
  MessageLink(Comm& comm, const at::Tensor& gradients, const LinkPlan& plan)
      : comm_(comm),
        hosts_(comm.size(Group::leaders)),
        host_(comm.place(Group::leaders)),
        ahead_(plan.sent == LinkCargo::gradients ? 1 : 0),
        numbers_(gradients, plan.as_on_gpu),
        codec_(link_codec(plan.format, plan.sent, floats_of(numbers_.in_memory()), plan.slots)) {
    std::int64_t out = 0, in = 0;
    for (const Bucket& bucket : plan.buckets) {
      out = std::max(out, place(bucket, hosts_ == 2 ? 1 : hosts_));
      in = std::max(
          in, (hosts_ - 1) * codec_->bytes(hosts_ == 2 ? whole(bucket) : chunk(bucket, host_)));
    }
    for (std::size_t i = 0; i < plan.under_way; ++i) {
      places_.push_back({at::empty({out}, at::kByte), at::empty({in}, at::kByte), {}, {}});
    }
  }

  void post(const Bucket& bucket) override {
    numbers_.fetch(whole(bucket));
    const std::size_t turn = posted_++;
    UnderWay& now = places_[turn % places_.size()];
    now.bucket = bucket;
    if (hosts_ == 2) {
      const at::Tensor own = message(now, bucket, 0);
      codec_->encode(whole(bucket), LinkCodec::Sum::own, bytes_of(own));
      receive(now, incoming(now, bucket, 1 - host_), 1 - host_, turn, 0);
      send(now, own, 1 - host_, turn, 0);
      return;
    }
    for (int other = 0; other < hosts_; ++other) {
      const at::Tensor part = message(now, bucket, other);
      codec_->encode(chunk(bucket, other), LinkCodec::Sum::own, bytes_of(part));
      if (other == host_) continue;
      receive(now, incoming(now, bucket, other), other, turn, 0);
      send(now, part, other, turn, 0);
    }
  }

  void complete(const Bucket& bucket) override {
    const std::size_t turn = completed_++;
    UnderWay& now = places_[turn % places_.size()];
    if (hosts_ > 2) {
      while (shared_ < std::min(posted_, turn + 1 + ahead_)) add_part_and_share(shared_++);
    }
    finish(now);
    hosts_ == 2 ? add_two(now, bucket) : decode_all(now, bucket);
    numbers_.bring_back(whole(bucket));
  }

  void take_sent(const Bucket& bucket) override {
    decode_all(places_[completed_ % places_.size()], bucket);
    numbers_.bring_back(whole(bucket));
  }

  LinkCodec* codec() override { return codec_.get(); }

 private:
  struct UnderWay {
    at::Tensor out, in;  // messages
    Bucket bucket;
    std::vector<PendingMessage> transfers;
  };

  static GradRange whole(const Bucket& bucket) { return {bucket.begin, bucket.end}; }
  GradRange chunk(const Bucket& bucket, int host) const {
    return part_of_host(bucket, host, hosts_);
  }
  // `out` holds one message of two hosts, else one for each host's chunk.
  std::int64_t place(const Bucket& bucket, int chunks) const {
    if (hosts_ == 2) return chunks * codec_->bytes(whole(bucket));
    std::int64_t sum = 0;
    for (int host = 0; host < chunks; ++host) sum += codec_->bytes(chunk(bucket, host));
    return sum;
  }
  at::Tensor message(const UnderWay& now, const Bucket& bucket, int host) const {
    const std::int64_t begin = place(bucket, host);
    return now.out.narrow(0, begin, place(bucket, host + 1) - begin);
  }
  // Where the message of another host lies in `in`: parts of the same size, by host.
  at::Tensor incoming(const UnderWay& now, const Bucket& bucket, int other) const {
    if (hosts_ == 2) return now.in.narrow(0, 0, codec_->bytes(whole(bucket)));
    const std::int64_t size = codec_->bytes(chunk(bucket, host_));
    const int before = other < host_ ? other : other - 1;
    return now.in.narrow(0, before * size, size);
  }

  void send(UnderWay& now, const at::Tensor& message, int to, std::size_t turn, int phase) {
    if (message.numel() == 0) return;
    now.transfers.push_back(comm_.send(message, to, tag(turn, phase), Group::leaders));
    bytes_out_ += message.numel();
  }
  void receive(UnderWay& now, const at::Tensor& message, int from, std::size_t turn, int phase) {
    if (message.numel() == 0) return;
    now.transfers.push_back(comm_.receive(message, from, tag(turn, phase), Group::leaders));
    bytes_in_ += message.numel();
  }
  int tag(std::size_t turn, int phase) const {
    return static_cast<int>(2 * (turn % places_.size())) + phase;
  }
  static void finish(UnderWay& now) {
    for (PendingMessage& transfer : now.transfers) transfer.wait();
    now.transfers.clear();
  }

  // What `out` holds of the bucket.
  void decode_all(const UnderWay& now, const Bucket& bucket) const {
    if (hosts_ == 2) return codec_->decode(bytes_of(message(now, bucket, 0)), whole(bucket));
    for (int host = 0; host < hosts_; ++host) {
      codec_->decode(bytes_of(message(now, bucket, host)), chunk(bucket, host));
    }
  }

  void add_two(const UnderWay& now, const Bucket& bucket) const {
    const at::Tensor own = message(now, bucket, 0);
    const at::Tensor other = incoming(now, bucket, 1 - host_);
    codec_->decode(bytes_of(host_ == 0 ? own : other), whole(bucket));
    codec_->add(bytes_of(host_ == 0 ? other : own), whole(bucket));
  }

  void add_part_and_share(std::size_t turn) {
    UnderWay& now = places_[turn % places_.size()];
    const Bucket& bucket = now.bucket;
    finish(now);
    const GradRange mine = chunk(bucket, host_);
    const at::Tensor own = message(now, bucket, host_);
    for (int host = 0; host < hosts_; ++host) {
      const at::Tensor part = host == host_ ? own : incoming(now, bucket, host);
      host == 0 ? codec_->decode(bytes_of(part), mine) : codec_->add(bytes_of(part), mine);
    }
    codec_->encode(mine, LinkCodec::Sum::all, bytes_of(own));
    for (int other = 0; other < hosts_; ++other) {
      if (other == host_) continue;
      receive(now, message(now, bucket, other), other, turn, 1);
      send(now, own, other, turn, 1);
    }
  }

  Comm& comm_;
  int hosts_, host_;
  // Of more than two hosts: the next bucket's part is summed and on its way before this one's sums
  // are waited for, or the link would be idle from their arrival until something else is posted.
  // Not of changes: what was sent of the next one is still asked for.
  std::size_t ahead_;
  Staging numbers_;
  std::unique_ptr<LinkCodec> codec_;
  std::vector<UnderWay> places_;
  std::size_t posted_ = 0, shared_ = 0, completed_ = 0;
};

// For whole numbers on a GPU: NCCL gathers, Torch adds. Both are only asked for, in the order of
// the stream, so nothing is gained by waiting for complete().
class GatherLink final : public LeaderLink {
 public:
  GatherLink(Comm& comm, const at::Tensor& gradients, LinkFormat format)
      : comm_(comm),
        gradients_(gradients),
        type_(format == LinkFormat::bf16 ? at::kBFloat16 : at::kFloat) {}

  void take_sent(const Bucket&) override { check(false, "changes are always coded"); }
  void complete(const Bucket&) override {}
  void post(const Bucket& bucket) override {
    at::Tensor values = gradients_.narrow(0, bucket.begin, bucket.size());
    const at::Tensor own = values.to(type_);
    const auto all = comm_.all_gather(own, Group::leaders);
    values.copy_(all.front());
    for (std::size_t host = 1; host < all.size(); ++host) values.add_(all[host].to(at::kFloat));
    const auto others = static_cast<std::int64_t>(own.nbytes() * (all.size() - 1));
    bytes_out_ += others;
    bytes_in_ += others;
  }

 private:
  Comm& comm_;
  at::Tensor gradients_;
  at::ScalarType type_;
};

}  // namespace

GradRange part_of_host(const Bucket& bucket, int host, int hosts) {
  return {bucket.begin + bucket.size() * host / hosts,
          bucket.begin + bucket.size() * (host + 1) / hosts};
}

std::unique_ptr<LeaderLink> leader_link(Comm& comm, const at::Tensor& gradients,
                                        const LinkPlan& plan) {
  const bool coded = plan.format == LinkFormat::int8 || plan.format == LinkFormat::int4;
  if (!coded && (gradients.is_cuda() || plan.as_on_gpu)) {
    return std::make_unique<GatherLink>(comm, gradients, plan.format);
  }
  return std::make_unique<MessageLink>(comm, gradients, plan);
}

}  // namespace tandem
