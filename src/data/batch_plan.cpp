#include "data/batch_plan.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/permutation.h"
#include "base/rng.h"

namespace tandem {
namespace {

void validate(PairLengths lengths, const PlanInput& input) {
  const BatchSetting& batch = input.batch;
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
  double most = 0;
  for (const CorpusShare& share : input.shares) {
    most += static_cast<double>(share.pairs) * static_cast<double>(share.weight / kOnce + 1);
  }
  if (most > std::numeric_limits<std::uint32_t>::max()) {
    throw UserError(
        format("the weights of data.corpora make epochs of up to {:.0f} pairs, but 2^32 are too "
               "many; lower them",
               most));
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

struct ChosenPairs {
  std::vector<std::uint32_t> pairs;
  std::size_t too_long = 0;
};

// The start of a pair depends on its own corpus alone: others beside it change nothing.
std::uint64_t start_of(const CorpusShare& share, std::uint64_t seed, std::size_t pair) {
  constexpr std::uint64_t kStarts = 0x7374617274u;  // "start"
  return random_bits(share.fingerprint ^ mix64(seed), kStarts, pair) % kOnce;
}

ChosenPairs choose(PairLengths lengths, const PlanInput& input) {
  const auto fits = [most = input.batch.max_length](std::uint32_t subwords) {
    return subwords + std::int64_t{1} <= most;
  };
  const CorpusShare all{0, lengths.size(), kOnce};
  const auto shares = input.shares.empty() ? std::span(&all, 1) : input.shares;
  ChosenPairs chosen;
  chosen.pairs.reserve(lengths.size());
  std::size_t pair = 0;
  for (const CorpusShare& share : shares) {
    for (std::size_t i = 0; i < share.pairs; ++i, ++pair) {
      if (!fits(lengths.src(pair)) || !fits(lengths.tgt(pair))) {
        ++chosen.too_long;
        continue;
      }
      const std::uint64_t times = share.weight == kOnce
                                      ? 1
                                      : draws_in_epoch(share.weight, start_of(share, input.seed, i),
                                                       static_cast<std::uint64_t>(input.epoch));
      chosen.pairs.insert(chosen.pairs.end(), times, static_cast<std::uint32_t>(pair));
    }
  }
  return chosen;
}

std::vector<std::uint32_t> cut(PairLengths lengths, std::span<const std::uint32_t> order,
                               const BatchSetting& batch) {
  std::vector<std::uint32_t> starts{0};
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t weight =
        batch.unit == BatchUnit::tokens ? lengths.tgt(order[i]) + std::int64_t{1} : 1;
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
  validate(lengths, input);
  ChosenPairs chosen = choose(lengths, input);
  order_ = std::move(chosen.pairs);
  left_out_ = chosen.too_long;
  if (left_out_ == lengths.size()) {
    throw UserError(
        format("none of the {} training pairs is within data.max_length={}; raise it "
               "or prepare another dataset",
               lengths.size(), input.batch.max_length));
  }
  if (order_.empty()) {
    throw UserError(
        format("epoch {} has no pairs: the weights of data.corpora are too small for {} pairs",
               input.epoch, lengths.size()));
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
