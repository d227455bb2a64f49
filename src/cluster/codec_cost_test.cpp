#include "cluster/codec_cost.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(CodecCost, EveryWayToExchangeHasACostOfItsOwn) {
  SoftwareCost idle, busy;
  measure_codecs(idle, true, false);
  measure_codecs(busy, true, true);
  for (const Scheme scheme : {Scheme::exact_fp32, Scheme::exact_bf16, Scheme::int8, Scheme::int4,
                              Scheme::local_int8, Scheme::local_int4}) {
    EXPECT_GT(idle.codec_of(scheme), 1e-11);
    EXPECT_LT(idle.codec_of(scheme), 1e-6);
  }
  EXPECT_EQ(idle.codec_of(Scheme::local_int8), idle.codec_of(Scheme::local_int4));
  EXPECT_GT(busy.codec_of(Scheme::local_int8), busy.codec_of(Scheme::int8));
  EXPECT_EQ(idle.codec_of(Scheme::one_host), 0);
}

}  // namespace
}  // namespace tandem
