#include "cluster/link_codec.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "cluster/block_codec.h"
#include "cluster/wire_codec.h"

namespace tandem {
namespace {

// Tensors with fewer numbers gain nothing from a code and may lose by it.
constexpr std::int64_t kWorthCoding = 4096;

std::size_t length(GradRange range) {
  return static_cast<std::size_t>(range.end - range.begin);
}

std::span<float> part_of(std::span<float> numbers, GradRange range) {
  return numbers.subspan(static_cast<std::size_t>(range.begin), length(range));
}

class Fp32Codec final : public LinkCodec {
 public:
  explicit Fp32Codec(std::span<float> numbers) : numbers_(numbers) {}
  std::int64_t bytes(GradRange range) const override {
    return static_cast<std::int64_t>(length(range) * sizeof(float));
  }
  void encode(GradRange range, Sum, std::span<std::uint8_t> message) override {
    std::memcpy(message.data(), part_of(numbers_, range).data(), message.size());
  }
  void decode(std::span<const std::uint8_t> message, GradRange range) override {
    std::memcpy(part_of(numbers_, range).data(), message.data(), message.size());
  }
  void add(std::span<const std::uint8_t> message, GradRange range) override {
    add_floats({reinterpret_cast<const float*>(message.data()), length(range)},
               part_of(numbers_, range));
  }

 private:
  std::span<float> numbers_;
};

class Bf16Codec final : public LinkCodec {
 public:
  explicit Bf16Codec(std::span<float> numbers) : numbers_(numbers) {}
  std::int64_t bytes(GradRange range) const override {
    return static_cast<std::int64_t>(length(range) * sizeof(std::uint16_t));
  }
  void encode(GradRange range, Sum, std::span<std::uint8_t> message) override {
    encode_bf16(part_of(numbers_, range),
                {reinterpret_cast<std::uint16_t*>(message.data()), length(range)});
  }
  void decode(std::span<const std::uint8_t> message, GradRange range) override {
    decode_bf16(halves(message, range), part_of(numbers_, range));
  }
  void add(std::span<const std::uint8_t> message, GradRange range) override {
    add_bf16(halves(message, range), part_of(numbers_, range));
  }

 private:
  static std::span<const std::uint16_t> halves(std::span<const std::uint8_t> message,
                                               GradRange range) {
    return {reinterpret_cast<const std::uint16_t*>(message.data()), length(range)};
  }
  std::span<float> numbers_;
};

class CodedCodec final : public LinkCodec {
 public:
  CodedCodec(BlockCode code, LinkCargo sent, std::span<float> numbers,
             std::span<const GradRange> slots)
      : code_(code), sent_(sent), numbers_(numbers) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool coded = slots[i].end - slots[i].begin >= kWorthCoding;
      if (!runs_.empty() && runs_.back().coded == coded) continue;
      runs_.push_back({i == 0 ? 0 : slots[i].begin, coded});
    }
  }

  std::int64_t bytes(GradRange range) const override {
    std::int64_t sum = 0;
    for_pieces(range, [&](GradRange piece, bool coded) { sum += piece_bytes(piece, coded); });
    return sum;
  }

  void encode(GradRange range, Sum sum, std::span<std::uint8_t> message) override {
    for_messages(range, message, [&](GradRange piece, bool coded, auto bytes) {
      const std::span<float> values = part_of(numbers_, piece);
      if (!coded) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
      } else if (sent_ == LinkCargo::changes && sum == Sum::own) {
        encode_blocks(code_, values, {}, {}, bytes);
      } else {
        Kept& kept = kept_of(sum);
        encode_blocks(code_, values, part_of(kept[now_], piece), part_of(kept[next()], piece),
                      bytes);
      }
    });
  }

  void decode(std::span<const std::uint8_t> message, GradRange range) override {
    for_messages(range, message, [&](GradRange piece, bool coded, auto bytes) {
      const std::span<float> values = part_of(numbers_, piece);
      if (coded) {
        decode_blocks(code_, bytes, values);
      } else {
        std::memcpy(values.data(), bytes.data(), bytes.size());
      }
    });
  }

  void add(std::span<const std::uint8_t> message, GradRange range) override {
    for_messages(range, message, [&](GradRange piece, bool coded, auto bytes) {
      const std::span<float> values = part_of(numbers_, piece);
      if (coded) {
        add_blocks(code_, bytes, values);
        return;
      }
      std::vector<float> plain(length(piece));  // messages are not aligned for floats
      std::memcpy(plain.data(), bytes.data(), bytes.size());
      add_floats(plain, values);
    });
  }

  void end_step() override { now_ = next(); }
  void take_back_step() override { now_ = next(); }

  std::span<float> kept(Sum sum) override {
    if (sent_ == LinkCargo::changes && sum == Sum::own) return {};
    return kept_of(sum)[now_];
  }

 private:
  struct Run {
    std::int64_t begin;
    bool coded;
  };
  // Of the step before, and of this one. Changes are never taken back: one place is enough.
  using Kept = std::array<std::vector<float>, 2>;
  std::size_t next() const { return sent_ == LinkCargo::changes ? 0 : 1 - now_; }

  Kept& kept_of(Sum sum) {
    Kept& kept = kept_[sum == Sum::own ? 0 : 1];
    if (kept[0].empty()) {
      kept[0].assign(numbers_.size(), 0.0F);
      if (sent_ == LinkCargo::gradients) kept[1].assign(numbers_.size(), 0.0F);
    }
    return kept;
  }

  std::int64_t piece_bytes(GradRange piece, bool coded) const {
    const std::int64_t numbers = piece.end - piece.begin;
    return coded ? coded_bytes(code_, numbers) : numbers * static_cast<std::int64_t>(sizeof(float));
  }

  // Cuts the range where coded and uncoded tensors meet.
  template <class Visit>
  void for_pieces(GradRange range, Visit&& visit) const {
    auto run = std::ranges::upper_bound(runs_, range.begin, {}, &Run::begin);
    for (std::int64_t begin = range.begin; begin < range.end;) {
      const bool coded = std::prev(run)->coded;
      const std::int64_t end = run == runs_.end() ? range.end : std::min(range.end, run->begin);
      visit(GradRange{begin, end}, coded);
      begin = end;
      if (run != runs_.end()) ++run;
    }
  }

  template <class Byte, class Visit>
  void for_messages(GradRange range, std::span<Byte> message, Visit&& visit) const {
    std::size_t at = 0;
    for_pieces(range, [&](GradRange piece, bool coded) {
      const auto size = static_cast<std::size_t>(piece_bytes(piece, coded));
      visit(piece, coded, message.subspan(at, size));
      at += size;
    });
  }

  BlockCode code_;
  LinkCargo sent_;
  std::span<float> numbers_;
  std::vector<Run> runs_;  // from the first number to the last, coded and not in turn
  std::array<Kept, 2> kept_;
  std::size_t now_ = 0;
};

}  // namespace

std::unique_ptr<LinkCodec> link_codec(LinkFormat format, LinkCargo sent, std::span<float> numbers,
                                      std::span<const GradRange> slots) {
  switch (format) {
    case LinkFormat::fp32:
      return std::make_unique<Fp32Codec>(numbers);
    case LinkFormat::bf16:
      return std::make_unique<Bf16Codec>(numbers);
    case LinkFormat::int8:
      return std::make_unique<CodedCodec>(BlockCode::int8, sent, numbers, slots);
    case LinkFormat::int4:
      break;
  }
  return std::make_unique<CodedCodec>(BlockCode::int4, sent, numbers, slots);
}

}  // namespace tandem
