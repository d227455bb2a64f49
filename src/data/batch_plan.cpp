#include "data/batch_plan.h"

#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/permutation.h"

namespace tandem {
namespace {

void validate(PairLengths lengths, const BatchSetting& batch) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const bool by_tokens = batch.unit == BatchUnit::tokens;
  if (batch.max_length < 2 || batch.max_length > kMost) {
    throw UserError(format("data.max_length={} must be between 2 and {}", batch.max_length, kMost));
  }
  if (batch.amount < 1 || batch.amount > kMost) {
    throw UserError(format("a batch of {} {} is not possible; choose between 1 and {}",
                           batch.amount, by_tokens ? "tokens" : "sentences", kMost));
  }
  if (by_tokens && batch.amount < batch.max_length) {
    throw UserError(format(
        "batch.tokens={} is below data.max_length={}, so a long sentence would fit into no batch; "
        "raise batch.tokens or lower data.max_length",
        batch.amount, batch.max_length));
  }
  if (lengths.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw UserError(
        format("a dataset of {} pairs is too large; split it below 2^32 pairs", lengths.size()));
  }
}

// The order of an epoch differs as soon as one of these does. The constant keeps it apart from
// other uses of the same seed.
std::uint64_t order_key(const PlanInput& input) {
  std::uint64_t key = mix64(0x62617463686f7264u);  // "batchord"
  for (const std::uint64_t part :
       {input.fingerprint, input.seed, static_cast<std::uint64_t>(input.epoch),
        static_cast<std::uint64_t>(input.batch.unit),
        static_cast<std::uint64_t>(input.batch.amount)}) {
    key = mix64(key ^ part);
  }
  return key;
}

std::vector<std::uint32_t> short_enough(PairLengths lengths, std::int64_t max_length) {
  std::vector<std::uint32_t> pairs;
  pairs.reserve(lengths.size());
  for (std::size_t pair = 0; pair < lengths.size(); ++pair) {
    if (fits(lengths, pair, max_length)) pairs.push_back(static_cast<std::uint32_t>(pair));
  }
  return pairs;
}

std::vector<std::uint32_t> cut(PairLengths lengths, std::span<const std::uint32_t> order,
                               const BatchSetting& batch) {
  std::vector<std::uint32_t> starts{0};
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t weight = batch.unit == BatchUnit::tokens ? lengths.tgt(order[i]) + 1 : 1;
    if (filled + weight > batch.amount) {
      starts.push_back(static_cast<std::uint32_t>(i));
      filled = 0;
    }
    filled += weight;
  }
  starts.push_back(static_cast<std::uint32_t>(order.size()));
  return starts;
}

}  // namespace

BatchPlan::BatchPlan(PairLengths lengths, const PlanInput& input) {
  validate(lengths, input.batch);
  order_ = short_enough(lengths, input.batch.max_length);
  left_out_ = lengths.size() - order_.size();
  if (order_.empty()) {
    throw UserError(
        format("none of the {} training pairs is within data.max_length={}; raise it "
               "or prepare another dataset",
               lengths.size(), input.batch.max_length));
  }
  shuffle(order_, order_key(input));
  starts_ = cut(lengths, order_, input.batch);
}

std::uint64_t BatchPlan::hash() const {
  // 32-bit numbers as they lie in memory: little-endian on every machine we build for.
  Hasher64 hasher;
  hasher.add(std::as_bytes(std::span(order_)));
  hasher.add(std::as_bytes(std::span(starts_)));
  return hasher.value();
}

}  // namespace tandem
