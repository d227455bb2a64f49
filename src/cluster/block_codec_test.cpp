#include "cluster/block_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace tandem {
namespace {

std::vector<float> random_floats(std::size_t size, double largest, std::uint64_t seed) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto part = static_cast<double>(random_bits(seed, i, 0) >> 11) * 0x1p-53;
    values[i] = static_cast<float>((2 * part - 1) * largest * std::pow(part, 4));
  }
  return values;
}

struct Coded {
  std::vector<std::uint8_t> message;
  std::vector<float> rest, arrived;
};

Coded coded(BlockCode code, const std::vector<float>& values, const std::vector<float>& kept) {
  const auto bytes = coded_bytes(code, static_cast<std::int64_t>(values.size()));
  Coded result{std::vector<std::uint8_t>(static_cast<std::size_t>(bytes)),
               std::vector<float>(values.size()), std::vector<float>(values.size())};
  encode_blocks(code, values, kept, result.rest, result.message);
  decode_blocks(code, result.message, result.arrived);
  return result;
}

class EveryCode : public testing::TestWithParam<BlockCode> {};
INSTANTIATE_TEST_SUITE_P(BlockCodec, EveryCode, testing::Values(BlockCode::int8, BlockCode::int4));

TEST_P(EveryCode, WhatArrivesAndWhatIsKeptAreWhatThereWas) {
  for (const std::size_t size : {0U, 1U, 2U, 127U, 128U, 129U, 255U, 256U, 257U, 10001U}) {
    for (const double largest : {1e-20, 1e-3, 1.0, 1e20}) {
      const auto values = random_floats(size, largest, size);
      const auto kept = random_floats(size, largest / 10, size + 1);
      const Coded sent = coded(GetParam(), values, kept);
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(sent.arrived[i] + sent.rest[i], values[i] + kept[i], largest * 1e-6);
      }
    }
  }
}

TEST_P(EveryCode, TheErrorIsAtMostHalfAStepOfTheBlock) {
  const auto values = random_floats(5000, 1.0, 7);
  const Coded sent = coded(GetParam(), values, std::vector<float>(values.size()));
  const std::size_t block = GetParam() == BlockCode::int8 ? 256 : 128;
  const float steps = GetParam() == BlockCode::int8 ? 127 : 7;
  for (std::size_t first = 0; first < values.size(); first += block) {
    const std::size_t end = std::min(first + block, values.size());
    float largest = 0;
    for (std::size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    for (std::size_t i = first; i < end; ++i) {
      // A scale is rounded up to 8 bits.
      EXPECT_LE(std::abs(sent.rest[i]), largest / steps * 0.505F) << i;
    }
  }
}

TEST_P(EveryCode, ZeroStaysZeroAndNothingIsKeptOfIt) {
  std::vector<float> values(700);
  values[300] = 5;
  const Coded sent = coded(GetParam(), values, std::vector<float>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == 300) continue;
    EXPECT_EQ(sent.arrived[i], 0);
    EXPECT_EQ(sent.rest[i], 0);
  }
  EXPECT_NEAR(sent.arrived[300], 5, 0.04);
}

TEST_P(EveryCode, NumbersTooSmallForAScaleAreKept) {
  const std::vector<float> values(10, 1e-35F);
  const Coded sent = coded(GetParam(), values, std::vector<float>(values.size()));
  EXPECT_EQ(sent.arrived, std::vector<float>(10));
  EXPECT_EQ(sent.rest, values);
}

TEST_P(EveryCode, WhatIsNotFiniteIsSeenByTheOtherSide) {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::nanf("")}) {
    std::vector<float> values(600, 1.0F);
    values[400] = bad;
    const Coded sent = coded(GetParam(), values, std::vector<float>(values.size()));
    EXPECT_TRUE(std::isnan(sent.arrived[400]));
    EXPECT_NEAR(sent.arrived[0], 1, 0.01);  // another block
  }
}

// Without what is kept, a number far below the largest of its block never arrives.
TEST_P(EveryCode, KeptPartsArriveInTheEnd) {
  std::vector<float> values(128, 0.001F), kept(128), sum(128), lossy(128);
  values[0] = 1;
  for (int turn = 0; turn < 1000; ++turn) {
    const Coded sent = coded(GetParam(), values, kept);
    kept = sent.rest;
    add_blocks(GetParam(), sent.message, sum);
    add_blocks(GetParam(), coded(GetParam(), values, std::vector<float>(128)).message, lossy);
  }
  EXPECT_NEAR(sum[5], 1.0, 0.15);
  EXPECT_EQ(lossy[5], 0);
}

TEST(BlockCodec, BytesANumber) {
  EXPECT_EQ(coded_bytes(BlockCode::int8, 256 * 1000), 258 * 1000);
  EXPECT_EQ(coded_bytes(BlockCode::int4, 128 * 1000), 66 * 1000);
  EXPECT_EQ(coded_bytes(BlockCode::int4, 3), 4);
}

}  // namespace
}  // namespace tandem
