#include "cluster/codec_cost.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(CodecCost, EveryWayToExchangeHasACostOfItsOwn) {
  SoftwareCost idle, busy;
  measure_codecs(idle, {});
  measure_codecs(busy, {.computing_takes_all = true});
  for (const Scheme scheme : {Scheme::exact_fp32, Scheme::exact_bf16, Scheme::int8, Scheme::int4,
                              Scheme::local_int8, Scheme::local_int4}) {
    EXPECT_GT(idle.codec_of(scheme), 1e-11);
    EXPECT_LT(idle.codec_of(scheme), 1e-6);
  }
  EXPECT_EQ(idle.codec_of(Scheme::local_int8), idle.codec_of(Scheme::local_int4));
  EXPECT_GT(busy.codec_of(Scheme::local_int8), busy.codec_of(Scheme::int8));
  EXPECT_EQ(idle.codec_of(Scheme::one_host), 0);
}

TEST(CodecCost, NumbersOfAGpuAreCopiedToMemoryAndBackWhereTheyAreCoded) {
  SoftwareCost software;
  measure_codecs(software, {.gpu = GpuCost{1e-9, 2e-10, 1e-10}});
  EXPECT_EQ(software.codec_of(Scheme::exact_fp32), 2e-10);
  EXPECT_EQ(software.codec_of(Scheme::exact_bf16), 1e-10);
  for (const Scheme coded : {Scheme::int8, Scheme::int4}) {
    EXPECT_GT(software.codec_of(coded), 1e-9);
  }
  for (const Scheme local : {Scheme::local_int8, Scheme::local_int4}) {
    EXPECT_EQ(software.codec_of(local), 1e-9) << "all that it takes from a step";
  }
}

}  // namespace
}  // namespace tandem
