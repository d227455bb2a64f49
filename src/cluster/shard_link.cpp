#include "cluster/shard_link.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"

namespace tandem {
namespace {

constexpr int kShardTags = 100;  // sums of all for all use small ones

// What both directions need: messages that hold what the workers of one host keep of a bucket.
class ShardLink : public LeaderLink {
 public:
  ShardLink(Comm& comm, const at::Tensor& numbers, const ShardPlan& shards, const LinkPlan& plan,
            LinkFormat format)
      : hosts_(comm.size(Group::leaders)),
        host_(comm.place(Group::leaders)),
        comm_(comm),
        shards_(shards),
        codec_(link_codec(
            format, plan.sent,
            {numbers.mutable_data_ptr<float>(), static_cast<std::size_t>(numbers.numel())},
            plan.slots)) {
    std::vector<std::int64_t> most(static_cast<std::size_t>(hosts_), 0);  // bytes, by host
    for (const Bucket& bucket : plan.buckets) {
      for (int host = 0; host < hosts_; ++host) {
        std::int64_t& bytes = most[static_cast<std::size_t>(host)];
        bytes = std::max(bytes, bytes_of(ranges_of(bucket, host)));
      }
    }
    const std::int64_t room = *std::ranges::max_element(most);
    for (std::size_t i = 0; i < plan.under_way; ++i) {
      UnderWay& place = places_.emplace_back();
      for (int host = 0; host < hosts_; ++host) {
        place.out.push_back(at::empty({room}, at::kByte));
        place.in.push_back(at::empty({room}, at::kByte));
      }
    }
  }

  void take_sent(const Bucket&) override { check(false, "shards take nothing back"); }

 protected:
  struct UnderWay {
    std::vector<at::Tensor> out, in;  // a message to and from every host
    std::vector<PendingMessage> transfers;
  };
  using Ranges = std::vector<GradRange>;

  Ranges ranges_of(const Bucket& bucket, int host) const {
    Ranges ranges;
    for (const int rank : comm_.world().ranks_of_host(host)) {
      for (const auto& part : shards_.parts_of(rank, {bucket.begin, bucket.end})) {
        ranges.push_back({part.begin, part.end});
      }
    }
    return ranges;
  }
  std::int64_t bytes_of(const Ranges& ranges) const {
    std::int64_t bytes = 0;
    for (const GradRange& range : ranges) bytes += codec_->bytes(range);
    return bytes;
  }
  // Calls work(range, its part of the message).
  template <class Work>
  void walk_message(const Ranges& ranges, const at::Tensor& message, Work&& work) const {
    auto* at = message.mutable_data_ptr<std::uint8_t>();
    for (const GradRange& range : ranges) {
      const auto bytes = static_cast<std::size_t>(codec_->bytes(range));
      work(range, std::span<std::uint8_t>(at, bytes));
      at += bytes;
    }
  }
  void encode(const Ranges& ranges, const at::Tensor& message) {
    walk_message(ranges, message, [&](GradRange range, std::span<std::uint8_t> bytes) {
      codec_->encode(range, LinkCodec::Sum::own, bytes);
    });
  }
  void decode(const Ranges& ranges, const at::Tensor& message) {
    walk_message(ranges, message, [&](GradRange range, std::span<std::uint8_t> bytes) {
      codec_->decode(bytes, range);
    });
  }
  void add(const Ranges& ranges, const at::Tensor& message) {
    walk_message(ranges, message, [&](GradRange range, std::span<std::uint8_t> bytes) {
      codec_->add(bytes, range);
    });
  }

  void send(UnderWay& now, const at::Tensor& room, std::int64_t bytes, int to, int tag) {
    if (bytes == 0) return;
    now.transfers.push_back(comm_.send(room.narrow(0, 0, bytes), to, tag, Group::leaders));
    bytes_out_ += bytes;
  }
  void receive(UnderWay& now, const at::Tensor& room, std::int64_t bytes, int from, int tag) {
    if (bytes == 0) return;
    now.transfers.push_back(comm_.receive(room.narrow(0, 0, bytes), from, tag, Group::leaders));
    bytes_in_ += bytes;
  }
  UnderWay& next_place(std::size_t& count, int& tag) {
    const std::size_t turn = count++ % places_.size();
    tag = kShardTags + static_cast<int>(turn);
    return places_[turn];
  }
  static void finish(UnderWay& now) {
    for (PendingMessage& transfer : now.transfers) transfer.wait();
    now.transfers.clear();
  }

  int hosts_, host_;
  std::size_t posted_ = 0, completed_ = 0;

 private:
  Comm& comm_;
  const ShardPlan& shards_;
  std::unique_ptr<LinkCodec> codec_;
  std::vector<UnderWay> places_;
};

std::size_t of_host(int host) {
  return static_cast<std::size_t>(host);
}

class ScatterLink final : public ShardLink {
 public:
  using ShardLink::ShardLink;

  void post(const Bucket& bucket) override {
    int tag = 0;
    UnderWay& now = next_place(posted_, tag);
    const std::int64_t own_bytes = bytes_of(ranges_of(bucket, host_));
    for (int other = 0; other < hosts_; ++other) {
      const Ranges theirs = ranges_of(bucket, other);
      encode(theirs, now.out[of_host(other)]);
      if (other == host_) continue;
      receive(now, now.in[of_host(other)], own_bytes, other, tag);
      send(now, now.out[of_host(other)], bytes_of(theirs), other, tag);
    }
  }

  void complete(const Bucket& bucket) override {
    int tag = 0;
    UnderWay& now = next_place(completed_, tag);
    finish(now);
    const Ranges own = ranges_of(bucket, host_);
    for (int host = 0; host < hosts_; ++host) {
      // One's own numbers are rounded as the others' are.
      const at::Tensor& part = host == host_ ? now.out[of_host(host)] : now.in[of_host(host)];
      host == 0 ? decode(own, part) : add(own, part);
    }
  }
};

class ShareLink final : public ShardLink {
 public:
  using ShardLink::ShardLink;

  void post(const Bucket& bucket) override {
    int tag = 0;
    UnderWay& now = next_place(posted_, tag);
    const Ranges own = ranges_of(bucket, host_);
    const at::Tensor& message = now.out[of_host(host_)];
    encode(own, message);
    for (int other = 0; other < hosts_; ++other) {
      if (other == host_) continue;
      receive(now, now.in[of_host(other)], bytes_of(ranges_of(bucket, other)), other, tag);
      send(now, message, bytes_of(own), other, tag);
    }
  }

  void complete(const Bucket& bucket) override {
    int tag = 0;
    UnderWay& now = next_place(completed_, tag);
    finish(now);
    for (int other = 0; other < hosts_; ++other) {
      if (other != host_) decode(ranges_of(bucket, other), now.in[of_host(other)]);
    }
  }
};

}  // namespace

std::unique_ptr<LeaderLink> scatter_link(Comm& comm, const at::Tensor& numbers,
                                         const ShardPlan& shards, const LinkPlan& plan) {
  check(plan.format == LinkFormat::bf16 || plan.format == LinkFormat::fp32,
        "shards travel as fp32 or bf16");
  return std::make_unique<ScatterLink>(comm, numbers, shards, plan, plan.format);
}

std::unique_ptr<LeaderLink> gather_link(Comm& comm, const at::Tensor& numbers,
                                        const ShardPlan& shards, const LinkPlan& plan) {
  return std::make_unique<ShareLink>(comm, numbers, shards, plan, LinkFormat::fp32);
}

}  // namespace tandem
