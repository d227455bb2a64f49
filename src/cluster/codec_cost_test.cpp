#include "cluster/codec_cost.h"

#include <ATen/ATen.h>
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

TEST(CodecCost, NumbersOfAGpuAreCopiedToMemoryAndBack) {
  SoftwareCost gpu;
  measure_codecs(gpu, {.as_on_gpu = true});
  const double copies = gpu.codec_of(Scheme::local_int8);
  EXPECT_GT(copies, 1e-11) << "all that an exchange of weights takes from a step";
  EXPECT_EQ(gpu.codec_of(Scheme::local_int4), copies);
  for (const Scheme coded : {Scheme::int8, Scheme::int4}) EXPECT_GT(gpu.codec_of(coded), copies);
  for (const Scheme whole : {Scheme::exact_fp32, Scheme::exact_bf16}) {
    EXPECT_GT(gpu.codec_of(whole), 1e-12);
  }
}

}  // namespace
}  // namespace tandem
