#include "cluster/leader_link.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "cluster/wire_codec.h"

namespace tandem {
namespace {

at::ScalarType type_of(Wire wire) {
  return wire == Wire::bf16 ? at::kBFloat16 : at::kFloat;
}

// A message as the loops of wire_codec see it.
std::span<std::uint16_t> halves(const at::Tensor& message) {
  return {static_cast<std::uint16_t*>(message.mutable_data_ptr()),
          static_cast<std::size_t>(message.numel())};
}

std::span<float> floats(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// Loops of our own, not Torch's: those would start threads beside the ones that compute.
void encode(const at::Tensor& values, const at::Tensor& message) {
  if (message.scalar_type() == at::kBFloat16) {
    encode_bf16(floats(values), halves(message));
  } else {
    std::ranges::copy(floats(values), floats(message).begin());
  }
}

void decode(const at::Tensor& message, const at::Tensor& values) {
  if (message.scalar_type() == at::kBFloat16) {
    decode_bf16(halves(message), floats(values));
  } else {
    std::ranges::copy(floats(message), floats(values).begin());
  }
}

void add_decoded(const at::Tensor& message, const at::Tensor& values) {
  if (message.scalar_type() == at::kBFloat16) {
    add_bf16(halves(message), floats(values));
  } else {
    add_floats(floats(message), floats(values));
  }
}

// For tensors in memory.
class MessageLink final : public LeaderLink {
 public:
  MessageLink(Comm& comm, const at::Tensor& gradients, Wire wire, std::int64_t largest,
              std::size_t under_way)
      : comm_(comm),
        gradients_(gradients),
        hosts_(comm.size(Group::leaders)),
        host_(comm.place(Group::leaders)) {
    const auto options = at::TensorOptions().dtype(type_of(wire));
    for (std::size_t i = 0; i < under_way; ++i) {
      places_.push_back({at::empty({largest}, options), at::empty({largest}, options), {}});
    }
  }

  void post(const Bucket& bucket) override {
    const std::size_t turn = posted_++;
    UnderWay& now = places_[turn % places_.size()];
    encode(part(bucket), now.out.narrow(0, 0, bucket.size()));
    for (int other = 0; other < hosts_; ++other) {
      if (other == host_) continue;
      // Of two hosts each takes everything, of more each what it adds up.
      const Range theirs = hosts_ == 2 ? Range{0, bucket.size()} : chunk(bucket, other);
      const Range mine = hosts_ == 2 ? Range{0, bucket.size()} : chunk(bucket, host_);
      receive(now, incoming(now, bucket, other, mine), other, turn, 0);
      send(now, now.out.narrow(0, theirs.begin, theirs.size()), other, turn, 0);
    }
  }

  void complete(const Bucket& bucket) override {
    const std::size_t turn = completed_++;
    UnderWay& now = places_[turn % places_.size()];
    finish(now);
    hosts_ == 2 ? add_two(now, bucket) : add_part_and_share(now, bucket, turn);
  }

 private:
  struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
  };
  struct UnderWay {
    at::Tensor out, in;  // messages
    std::vector<PendingMessage> transfers;
  };

  at::Tensor part(const Bucket& bucket) const {
    return gradients_.narrow(0, bucket.begin, bucket.size());
  }
  Range chunk(const Bucket& bucket, int host) const {
    return {bucket.size() * host / hosts_, bucket.size() * (host + 1) / hosts_};
  }
  // Where the message of another host lies in `in`: parts of the same size, by host.
  at::Tensor incoming(const UnderWay& now, const Bucket& bucket, int other, Range mine) const {
    if (hosts_ == 2) return now.in.narrow(0, 0, bucket.size());
    const int before = other < host_ ? other : other - 1;
    return now.in.narrow(0, before * mine.size(), mine.size());
  }

  void send(UnderWay& now, const at::Tensor& message, int to, std::size_t turn, int phase) {
    if (message.numel() == 0) return;
    now.transfers.push_back(comm_.send(message, to, tag(turn, phase), Group::leaders));
    bytes_out_ += static_cast<std::int64_t>(message.nbytes());
  }
  void receive(UnderWay& now, const at::Tensor& message, int from, std::size_t turn, int phase) {
    if (message.numel() == 0) return;
    now.transfers.push_back(comm_.receive(message, from, tag(turn, phase), Group::leaders));
    bytes_in_ += static_cast<std::int64_t>(message.nbytes());
  }
  int tag(std::size_t turn, int phase) const {
    return static_cast<int>(2 * (turn % places_.size())) + phase;
  }
  static void finish(UnderWay& now) {
    for (PendingMessage& transfer : now.transfers) transfer.wait();
    now.transfers.clear();
  }

  void add_two(const UnderWay& now, const Bucket& bucket) const {
    const at::Tensor own = now.out.narrow(0, 0, bucket.size());
    const at::Tensor other = now.in.narrow(0, 0, bucket.size());
    decode(host_ == 0 ? own : other, part(bucket));
    add_decoded(host_ == 0 ? other : own, part(bucket));
  }

  void add_part_and_share(UnderWay& now, const Bucket& bucket, std::size_t turn) {
    const Range mine = chunk(bucket, host_);
    const at::Tensor sum = part(bucket).narrow(0, mine.begin, mine.size());
    const at::Tensor own = now.out.narrow(0, mine.begin, mine.size());
    for (int host = 0; host < hosts_; ++host) {
      const at::Tensor message = host == host_ ? own : incoming(now, bucket, host, mine);
      host == 0 ? decode(message, sum) : add_decoded(message, sum);
    }
    encode(sum, own);
    for (int other = 0; other < hosts_; ++other) {
      if (other == host_) continue;
      const Range theirs = chunk(bucket, other);
      receive(now, now.out.narrow(0, theirs.begin, theirs.size()), other, turn, 1);
      send(now, own, other, turn, 1);
    }
    finish(now);
    decode(now.out.narrow(0, 0, bucket.size()), part(bucket));
  }

  Comm& comm_;
  at::Tensor gradients_;
  int hosts_, host_;
  std::vector<UnderWay> places_;
  std::size_t posted_ = 0, completed_ = 0;
};

// For tensors on a GPU: NCCL gathers, Torch adds.
class GatherLink final : public LeaderLink {
 public:
  GatherLink(Comm& comm, const at::Tensor& gradients, Wire wire)
      : comm_(comm), gradients_(gradients), type_(type_of(wire)) {}

  void post(const Bucket&) override {}
  void complete(const Bucket& bucket) override {
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

std::unique_ptr<LeaderLink> leader_link(Comm& comm, const at::Tensor& gradients, Wire wire,
                                        std::int64_t largest, std::size_t under_way) {
  if (gradients.is_cuda()) return std::make_unique<GatherLink>(comm, gradients, wire);
  return std::make_unique<MessageLink>(comm, gradients, wire, largest, under_way);
}

}  // namespace tandem
