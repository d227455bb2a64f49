// link_codec: how a range of a flat buffer becomes a message between hosts, and back. fp32 and bf16
// carry the numbers themselves; int8 and int4 carry them in blocks (block_codec.h), keep what is
// lost for the next time, and leave small tensors (biases, norms) as fp32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "cluster/bucket_plan.h"

namespace tandem {

enum class LinkFormat { fp32, bf16, int8, int4 };
// What int8 and int4 keep: with gradients all that is lost; with weight changes what is lost of the
// sum, since the sender's own loss stays in its weights.
enum class LinkCargo { gradients, changes };

class LinkCodec {
 public:
  virtual ~LinkCodec() = default;
  virtual std::int64_t bytes(GradRange range) const = 0;
  // The host's own sum of a range, or the sum of all hosts on its way back: what each loses is kept
  // apart. A range is encoded at most once a step for each.
  enum class Sum { own, all };
  virtual void encode(GradRange range, Sum sum, std::span<std::uint8_t> message) = 0;
  virtual void decode(std::span<const std::uint8_t> message, GradRange range) = 0;  // into it
  virtual void add(std::span<const std::uint8_t> message, GradRange range) = 0;     // to it

  // What is kept back counts from the end of the step on, unless the step is taken back.
  virtual void end_step() {}
  virtual void take_back_step() {}
  // What is kept back of either sum, for checkpoints; empty: this codec keeps nothing.
  virtual std::span<float> kept(Sum) { return {}; }
};

// numbers outlives it. slots: those with few numbers always travel as they are.
std::unique_ptr<LinkCodec> link_codec(LinkFormat format, LinkCargo sent, std::span<float> numbers,
                                      std::span<const GradRange> slots);

}  // namespace tandem
