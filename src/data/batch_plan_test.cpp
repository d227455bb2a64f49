#include "data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/format.h"
#include "data/sample_lengths.h"

namespace tandem {
namespace {

using Bounds = std::vector<std::uint64_t>;

PlanInput input_of(BatchUnit unit, std::int64_t amount, std::int64_t max_length = 100) {
  return {.fingerprint = 0xf00d, .seed = 1, .epoch = 0, .batch = {unit, amount, max_length}};
}

std::int64_t tgt_tokens(PairLengths lengths, std::span<const std::uint32_t> batch) {
  std::int64_t sum = 0;
  for (const auto pair : batch) sum += lengths.tgt(pair) + 1;
  return sum;
}

// Lengths and settings of many kinds, the seed of each in the message of a failure.
template <class Claim>
void for_random_plans(Claim&& claim) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    auto draw = [seed, stream = 0u](std::uint64_t bound) mutable {
      return bounded(random_bits(seed, 77, stream++), bound);
    };
    const Bounds bounds = sample_bounds(1 + draw(3000), seed);
    const bool by_tokens = draw(2) == 0;
    const auto max_length = static_cast<std::int64_t>(20 + draw(200));
    const auto amount = static_cast<std::int64_t>(by_tokens ? 220 + draw(9000) : 1 + draw(400));
    const PlanInput input{
        .fingerprint = draw(~0u),
        .seed = draw(~0u),
        .epoch = static_cast<std::int64_t>(draw(50)),
        .batch = {by_tokens ? BatchUnit::tokens : BatchUnit::sentences, amount, max_length}};
    claim(PairLengths(bounds), input);
  }
}

}  // namespace

TEST(BatchPlan, EveryShortEnoughPairComesOnceAnEpoch) {
  for_random_plans([](PairLengths lengths, const PlanInput& input) {
    const BatchPlan plan(lengths, input);
    std::vector<int> seen(lengths.size());
    for (std::size_t b = 0; b < plan.batches(); ++b) {
      EXPECT_FALSE(plan.batch(b).empty());
      for (const auto pair : plan.batch(b)) ++seen.at(pair);
    }
    std::size_t too_long = 0;
    for (std::size_t pair = 0; pair < seen.size(); ++pair) {
      const bool wanted = lengths.src(pair) + 1 <= input.batch.max_length &&
                          lengths.tgt(pair) + 1 <= input.batch.max_length;
      ASSERT_EQ(seen[pair], wanted ? 1 : 0) << "pair " << pair;
      too_long += wanted ? 0u : 1u;
    }
    EXPECT_EQ(plan.left_out(), too_long);
    EXPECT_EQ(plan.pairs() + too_long, lengths.size());
  });
}

TEST(BatchPlan, ABatchIsFullButNeverTooFull) {
  for_random_plans([](PairLengths lengths, const PlanInput& input) {
    const BatchPlan plan(lengths, input);
    for (std::size_t b = 0; b < plan.batches(); ++b) {
      const bool last = b + 1 == plan.batches();
      if (input.batch.unit == BatchUnit::sentences) {
        const auto size = static_cast<std::int64_t>(plan.batch(b).size());
        ASSERT_TRUE(last ? size <= input.batch.amount : size == input.batch.amount);
        continue;
      }
      const std::int64_t tokens = tgt_tokens(lengths, plan.batch(b));
      ASSERT_LE(tokens, input.batch.amount);
      if (!last) {  // the next pair would not have fitted
        ASSERT_GT(tokens + lengths.tgt(plan.batch(b + 1).front()) + 1, input.batch.amount);
      }
    }
  });
}

TEST(BatchPlan, IsAFunctionOfItsInput) {
  for_random_plans([](PairLengths lengths, const PlanInput& input) {
    EXPECT_EQ(BatchPlan(lengths, input).hash(), BatchPlan(lengths, input).hash());
  });
}

TEST(BatchPlan, EveryInputChangesTheOrder) {
  const Bounds bounds = sample_bounds(5000, 3);
  const PlanInput base = input_of(BatchUnit::tokens, 4000);
  std::vector<PlanInput> inputs(7, base);
  inputs[1].fingerprint ^= 1;
  inputs[2].seed ^= 1;
  inputs[3].epoch = 1;
  inputs[4].batch.amount += 1;
  inputs[5].batch.unit = BatchUnit::sentences;
  inputs[6].seed = inputs[6].fingerprint;  // parts of the key must not cancel out
  inputs[6].fingerprint = base.seed;
  std::set<std::uint64_t> hashes;
  std::set<std::vector<std::uint32_t>> starts;
  for (const auto& input : inputs) {
    const BatchPlan plan(PairLengths(bounds), input);
    hashes.insert(plan.hash());
    starts.insert({plan.batch(0).begin(), plan.batch(0).begin() + 20});
  }
  EXPECT_EQ(hashes.size(), inputs.size());
  EXPECT_EQ(starts.size(), inputs.size());
}

TEST(BatchPlan, APairComesAsOftenAsTheWeightOfItsCorpusSays) {
  constexpr std::size_t kFirst = 3000, kSecond = 5000;
  const Bounds bounds = sample_bounds(kFirst + kSecond, 8, 90);
  const PairLengths lengths(bounds);
  const std::vector<CorpusShare> shares{{1, kFirst, fixed_weight(2.3)},
                                        {2, kSecond, fixed_weight(0.25)}};
  std::vector<int> seen(lengths.size());
  PlanInput input = input_of(BatchUnit::tokens, 3000);
  input.shares = shares;
  for (input.epoch = 0; input.epoch < 4; ++input.epoch) {
    const BatchPlan plan(lengths, input);
    std::vector<int> now(lengths.size());
    for (std::size_t b = 0; b < plan.batches(); ++b) {
      for (const auto pair : plan.batch(b)) ++now.at(pair);
    }
    std::size_t more = 0, second = 0;
    for (std::size_t pair = 0; pair < seen.size(); ++pair) {
      seen[pair] += now[pair];
      ASSERT_GE(now[pair], pair < kFirst ? 2 : 0);
      ASSERT_LE(now[pair], pair < kFirst ? 3 : 1);
      more += pair < kFirst && now[pair] == 3 ? 1u : 0u;
      second += pair >= kFirst && now[pair] == 1 ? 1u : 0u;
    }
    EXPECT_NEAR(static_cast<double>(more), 0.3 * kFirst, 150);      // deviation 25
    EXPECT_NEAR(static_cast<double>(second), 0.25 * kSecond, 180);  // deviation 31
  }
  for (std::size_t pair = 0; pair < seen.size(); ++pair) {
    if (pair < kFirst) {
      ASSERT_TRUE(seen[pair] == 9 || seen[pair] == 10) << pair;  // 4 x 2.3 = 9.2
    } else {
      ASSERT_EQ(seen[pair], 1) << pair;
    }
  }
}

TEST(BatchPlan, SharesOfOnceChangeNothing) {
  const Bounds bounds = sample_bounds(900, 8);
  PlanInput input = input_of(BatchUnit::tokens, 3000);
  const std::uint64_t plain = BatchPlan(PairLengths(bounds), input).hash();
  const std::vector<CorpusShare> shares{{1, 400, kOnce}, {2, 500, kOnce}};
  input.shares = shares;
  EXPECT_EQ(BatchPlan(PairLengths(bounds), input).hash(), plain);
}

TEST(BatchPlan, RefusesWeightsThatMakeNoEpoch) {
  const Bounds bounds = sample_bounds(20, 8, 50);
  PlanInput input = input_of(BatchUnit::tokens, 3000);
  std::vector<CorpusShare> shares{{1, 20, 1}};
  input.shares = shares;
  EXPECT_THROW(BatchPlan(PairLengths(bounds), input), UserError);
  shares.front().weight = fixed_weight(1e9);
  EXPECT_THROW(BatchPlan(PairLengths(bounds), input), UserError);
}

// Runs resume by recomputing this order. If this value changes, every checkpoint made before goes
// on with other sentences: then a decision record is due.
TEST(BatchPlan, TheOrderIsTheOneItHasAlwaysBeen) {
  Bounds bounds{0};
  for (std::uint64_t i = 1; i <= 2000; ++i) bounds.push_back(bounds.back() + 1 + i * i % 37);
  EXPECT_EQ(BatchPlan(PairLengths(bounds), input_of(BatchUnit::tokens, 500)).hash(),
            0x6fec46ecbc5d7f53u);
  EXPECT_EQ(BatchPlan(PairLengths(bounds), input_of(BatchUnit::sentences, 64)).hash(),
            0x44f0bb17c328e63bu);
}

TEST(BatchPlan, EveryBatchIsARandomSample) {
  const Bounds bounds = sample_bounds(100000, 4);
  const PairLengths lengths(bounds);
  const BatchPlan plan(lengths, input_of(BatchUnit::sentences, 1000, 600));
  double mean = 0, square = 0;
  for (std::size_t pair = 0; pair < lengths.size(); ++pair) {
    mean += lengths.src(pair) / 1e5;
    square += lengths.src(pair) * 1.0 * lengths.src(pair) / 1e5;
  }
  const double deviation_of_a_mean = std::sqrt((square - mean * mean) / 1000);
  double farthest = 0;
  for (std::size_t b = 0; b < plan.batches(); ++b) {
    double sum = 0;
    for (const auto pair : plan.batch(b)) sum += lengths.src(pair);
    farthest = std::max(farthest, std::abs(sum / 1000 - mean) / deviation_of_a_mean);
  }
  EXPECT_LT(farthest, 4.0);  // 100 batches: about 2.6 is expected
  EXPECT_GT(farthest, 1.5);  // batches of equal mean length would be no sample either
}

TEST(BatchPlan, RefusesSettingsThatCannotWork) {
  const Bounds bounds = sample_bounds(100, 5);
  const Bounds nothing{0};
  const auto plan = [](const Bounds& of, BatchUnit unit, std::int64_t amount,
                       std::int64_t max_length) {
    BatchPlan(PairLengths(of), input_of(unit, amount, max_length));
  };
  EXPECT_THROW(plan(bounds, BatchUnit::tokens, 0, 100), UserError);
  EXPECT_THROW(plan(bounds, BatchUnit::sentences, -1, 100), UserError);
  EXPECT_THROW(plan(bounds, BatchUnit::tokens, 99, 100), UserError);
  EXPECT_THROW(plan(bounds, BatchUnit::tokens, std::int64_t{1} << 40, 100), UserError);
  EXPECT_THROW(plan(bounds, BatchUnit::tokens, 1000, 0), UserError);
  EXPECT_THROW(plan(bounds, BatchUnit::sentences, 1, 2), UserError);  // no pair is that short
  EXPECT_THROW(plan(nothing, BatchUnit::sentences, 1, 100), UserError);
  EXPECT_NO_THROW(plan(bounds, BatchUnit::tokens, 100, 100));
}

}  // namespace tandem
