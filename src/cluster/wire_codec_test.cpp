#include "cluster/wire_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace tandem {
namespace {

float through_wire(float value) {
  std::uint16_t bits = 0;
  float back = 0;
  encode_bf16({&value, 1}, {&bits, 1});
  decode_bf16({&bits, 1}, {&back, 1});
  return back;
}

TEST(WireCodec, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(through_wire(1.0f), 1.0f);
  EXPECT_EQ(through_wire(-0.0f), 0.0f);
  EXPECT_TRUE(std::signbit(through_wire(-0.0f)));
  EXPECT_EQ(through_wire(1.0f + 1.0f / 256), 1.0f);               // a tie, even below
  EXPECT_EQ(through_wire(1.0f + 3.0f / 256), 1.0f + 4.0f / 256);  // a tie, even above
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(1, 2, i)));
    if (!std::isfinite(value) || std::abs(value) > 3.3e38f || std::abs(value) < 1.2e-38f) continue;
    EXPECT_LE(std::abs(through_wire(value) - value), std::abs(value) / 256) << value;
  }
}

TEST(WireCodec, WhatIsNotFiniteStaysSo) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(through_wire(kInfinity), kInfinity);
  EXPECT_EQ(through_wire(-kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(through_wire(std::bit_cast<float>(0x7fffffffu))));
  EXPECT_TRUE(std::isnan(through_wire(std::bit_cast<float>(0x7f800001u))));
}

TEST(WireCodec, EveryPartHoldsTheSumOfAll) {
  constexpr std::size_t kSize = 10001;
  std::vector<std::vector<float>> parts(3, std::vector<float>(kSize));
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t k = 0; k < 3; ++k) parts[k][i] = static_cast<float>(i) + static_cast<float>(k);
  }
  const std::vector<float*> places = {parts[0].data(), parts[1].data(), parts[2].data()};
  sum_into_all(places, kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    ASSERT_EQ(parts[0][i], 3 * static_cast<float>(i) + 3);
    ASSERT_EQ(parts[1][i], parts[0][i]);
    ASSERT_EQ(parts[2][i], parts[0][i]);
  }
}

TEST(WireCodec, SumsOfDecodedValuesAreExactFloats) {
  const std::vector<float> a = {1.5f, -2.25f, 1e-20f}, b = {0.5f, 2.25f, 3e20f};
  std::vector<std::uint16_t> wire_a(3), wire_b(3);
  encode_bf16(a, wire_a);
  encode_bf16(b, wire_b);
  std::vector<float> sum(3);
  decode_bf16(wire_a, sum);
  add_bf16(wire_b, sum);
  EXPECT_EQ(sum[0], 2.0f);
  EXPECT_EQ(sum[1], 0.0f);
}

}  // namespace
}  // namespace tandem
