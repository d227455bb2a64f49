// Against formulas that can be worked out by hand, and against step times that people measured.
#include "cluster/predict.h"

#include <gtest/gtest.h>

#include "config/choice.h"

namespace tandem {
namespace {

constexpr double kGigabit = 117.5e6, kTenth = 11.75e6;  // TCP goodput of 1 Gbps and 100 Mbps

// values in equal pieces that become ready evenly from the start of backward, so that formulas can
// be worked out by hand. A real model's gradients (model/step_work.h, above this folder) come
// later: with_tied_embedding.
PredictInput input_of(double values, double compute_seconds, ClusterShape shape, LinkSpeed link,
                      int pieces = 1000) {
  PredictInput input;
  input.facts.compute = compute_of(compute_seconds);
  for (int i = 0; i < pieces; ++i) {
    input.facts.pieces.push_back({values / pieces, static_cast<double>(i) / pieces});
  }
  input.facts.bucket_values = values / pieces;
  input.facts.tokens = 16384;
  input.facts.batch_is_global = false;
  input.shape = shape;
  input.link = link;
  return input;
}

// As of a base model: a quarter of all gradients, the tied embedding, is ready at the very end.
PredictInput with_tied_embedding(PredictInput input) {
  const double values = input.facts.values();
  for (ReadyPiece& piece : input.facts.pieces) piece.values *= 0.75;
  input.facts.pieces.push_back({values / 4, 1.0});
  return input;
}

const ClusterShape kTwoByTwo{2, 2};

double ratio(Scheme scheme, double compute, double goodput, std::int64_t local_steps = 0) {
  const PredictInput input = input_of(63e6, compute, kTwoByTwo, {goodput, 0});
  return predict(scheme, input, local_steps).step_seconds / compute;
}

TEST(Predict, RatiosToNoCommunicationAreThoseOfTheFormulas) {
  struct Row {
    Scheme scheme;
    double gigabit, tenth, tenth_slow_compute;
    std::int64_t local_steps = 0;
  };
  const std::vector<Row> table{
      {Scheme::flat_fp32, 21.8, 215, 108},
      {Scheme::flat_fp16, 11.1, 108, 54},
      {Scheme::exact_bf16, 7.5, 71.9, 36.1},
      {Scheme::int8, 3.96, 36.4, 18.4},
      {Scheme::int4, 2.20, 18.8, 9.6},
      {Scheme::local_int4, 1.00, 1.00, 1.00, 32},
      {Scheme::local_int8, 1.00, 1.00, 1.00, 64},
      {Scheme::local_int8, 1.00, 1.13, 1.00, 32},
  };
  for (const Row& row : table) {
    const auto name = name_of(row.scheme);
    EXPECT_NEAR(ratio(row.scheme, 0.15, kGigabit, row.local_steps) / row.gigabit, 1, 0.015) << name;
    EXPECT_NEAR(ratio(row.scheme, 0.15, kTenth, row.local_steps) / row.tenth, 1, 0.015) << name;
    EXPECT_NEAR(ratio(row.scheme, 0.30, kTenth, row.local_steps) / row.tenth_slow_compute, 1, 0.015)
        << name;
  }
}

TEST(Predict, OnGpusMoreThanTwoHostsGatherExactGradients) {
  for (const Scheme scheme : {Scheme::exact_bf16, Scheme::int8, Scheme::local_int4}) {
    EXPECT_EQ(bytes_out_of_host(scheme, {2, 2, true}, 1e6), bytes_out_of_host(scheme, {2, 2}, 1e6));
  }
  EXPECT_EQ(bytes_out_of_host(Scheme::exact_bf16, {4, 2}, 1e6), 3e6);
  EXPECT_EQ(bytes_out_of_host(Scheme::exact_bf16, {4, 2, true}, 1e6), 6e6);
  EXPECT_EQ(bytes_out_of_host(Scheme::int8, {4, 2, true}, 1e6),
            bytes_out_of_host(Scheme::int8, {4, 2}, 1e6));
}

TEST(Predict, OnGpusBackwardHidesAsMuchAsOnCpus) {
  const auto step = [](Scheme scheme, ClusterShape shape, double rtt) {
    return predict(scheme, input_of(63e6, 0.15, shape, {kGigabit, rtt}, 16)).step_seconds;
  };
  for (const Scheme scheme : {Scheme::exact_bf16, Scheme::int8, Scheme::int4, Scheme::local_int8}) {
    EXPECT_EQ(step(scheme, {2, 2, true}, 0), step(scheme, {2, 2}, 0)) << name_of(scheme);
  }
  EXPECT_GT(step(Scheme::exact_bf16, {4, 2, true}, 0), 1.9 * step(Scheme::exact_bf16, {4, 2}, 0));
  // One gathering at a time: each of the 16 buckets waits for its own three messages.
  EXPECT_NEAR(
      step(Scheme::exact_bf16, {4, 2, true}, 0.02) - step(Scheme::exact_bf16, {4, 2, true}, 0),
      16 * 3 * 0.02, 1e-6);
}

TEST(Predict, ShardedStateSendsGradientsToTheirOwnersAndWeightsToAll) {
  for (const ClusterShape shape : {ClusterShape{2, 1}, ClusterShape{8, 2}}) {
    PredictInput input = input_of(63e6, 1.0, shape, {kGigabit, 0});
    const Prediction whole = predict(Scheme::exact_fp32, input);
    input.facts.sharded = true;
    const Prediction fp32 = predict(Scheme::exact_fp32, input);
    const Prediction bf16 = predict(Scheme::exact_bf16, input);
    EXPECT_NEAR(fp32.bytes_out, whole.bytes_out, 1) << "no more than a sum for all";
    EXPECT_NEAR(bf16.bytes_out, fp32.bytes_out * 3 / 4, 1) << "weights are fp32";
    const auto hosts = static_cast<double>(shape.hosts);
    const double weights = (hosts - 1) / hosts * 4 * 63e6 / kGigabit;
    EXPECT_GT(bf16.exposed_seconds, 0.999 * weights) << "nothing hides them";
  }
}

TEST(Predict, StepTimesThatPeopleMeasuredOnTwoHostsWithTwoDevices) {
  for (const double values : {61e6, 68e6}) {
    const auto step = [&](Scheme scheme, double goodput) {
      return predict(scheme, input_of(values, 1e-3, kTwoByTwo, {goodput, 2e-4}, 16)).step_seconds;
    };
    const double gigabit = step(Scheme::flat_fp16, kGigabit);  // seen: 1.6 to 1.8 s
    EXPECT_GT(gigabit, 1.55);
    EXPECT_LT(gigabit, 1.76);
    const double tenth = step(Scheme::flat_fp16, kTenth);
    EXPECT_GT(tenth, 15.5);
    EXPECT_LT(tenth, 17.5);
    for (const double slow : {step(Scheme::flat_fp32, kTenth),         // seen: 30 s
                              step(Scheme::flat_fp16, kTenth / 2)}) {  // half duplex
      EXPECT_GT(slow, 31);
      EXPECT_LT(slow, 35);
    }
  }
}

TEST(Predict, MoreHostsAndFasterLinks) {
  struct Row {
    std::int64_t hosts;
    double goodput;
    Scheme scheme;
    double step;
  };
  const std::vector<Row> table{
      {2, 10 * kGigabit, Scheme::exact_bf16, 0.161},
      {4, 10 * kGigabit, Scheme::exact_bf16, 0.211},
      {8, 10 * kGigabit, Scheme::int8, 0.150},
      {8, kGigabit, Scheme::exact_bf16, 1.96},
      {8, kGigabit, Scheme::int8, 1.02},
      {8, kGigabit, Scheme::int4, 0.56},
      {4, 10 * kGigabit, Scheme::int8, 0.150},
      {8, 10 * kGigabit, Scheme::int4, 0.150},
  };
  for (const Row& row : table) {
    const PredictInput input = input_of(63e6, 0.15, {row.hosts, 2}, {row.goodput, 2e-4}, 10);
    EXPECT_NEAR(predict(row.scheme, input).step_seconds / row.step, 1, 0.05)
        << row.hosts << " hosts, " << name_of(row.scheme);
  }
}

TEST(Predict, LongRoundTripsHurtARingMostOfAll) {
  const auto step = [](Scheme scheme, double rtt) {
    return predict(scheme, input_of(63e6, 0.15, {8, 2}, {kGigabit, rtt}, 16)).step_seconds;
  };
  // All but the last bucket's latency hides behind the next one.
  EXPECT_NEAR(step(Scheme::exact_bf16, 0.02) - step(Scheme::exact_bf16, 0), 2 * 0.02, 1e-6);
  EXPECT_NEAR(step(Scheme::flat_fp16, 0.02) - step(Scheme::flat_fp16, 0), 16 * 30 * 0.02, 1e-6);
}

TEST(Predict, BytesOutOfAHost) {
  const double p = 63e6;
  EXPECT_EQ(bytes_out_of_host(Scheme::flat_fp16, {2, 2}, p), 1.5 * 2 * p);
  EXPECT_EQ(bytes_out_of_host(Scheme::exact_bf16, {2, 2}, p), 2 * p);
  EXPECT_EQ(bytes_out_of_host(Scheme::exact_fp32, {4, 2}, p), 1.5 * 4 * p);
  EXPECT_NEAR(bytes_out_of_host(Scheme::int8, {2, 2}, p), 63.5e6, 1e5);
  EXPECT_NEAR(bytes_out_of_host(Scheme::int4, {2, 2}, p), 32.5e6, 1e5);
  EXPECT_EQ(bytes_out_of_host(Scheme::exact_bf16, {1, 8}, p), 0);
}

TEST(Predict, OneHostIsTheMeasureOfSpeedUp) {
  const PredictInput free_link = input_of(63e6, 0.15, kTwoByTwo, {1e15, 0});
  EXPECT_NEAR(predict(Scheme::exact_bf16, free_link).speed_up, 2, 1e-6);
  EXPECT_NEAR(predict(Scheme::exact_bf16, free_link).efficiency, 1, 1e-6);
  EXPECT_EQ(predict(Scheme::one_host, free_link).speed_up, 1);
  EXPECT_NEAR(predict(Scheme::one_host, free_link).tokens_per_second, 8192 / 0.15, 1e-6);
  const PredictInput slow = input_of(63e6, 0.15, kTwoByTwo, {kGigabit, 0});
  EXPECT_LT(predict(Scheme::exact_bf16, slow).speed_up, 0.3);  // worse than switching one off
}

TEST(Predict, AGlobalBatchOnOneHostTakesAsManyTimesLonger) {
  PredictInput input = input_of(63e6, 0.15, kTwoByTwo, {1e15, 0});
  input.facts.batch_is_global = true;
  const Prediction alone = predict(Scheme::one_host, input);
  EXPECT_NEAR(alone.step_seconds, 0.30, 1e-9);
  EXPECT_NEAR(alone.tokens_per_second, 16384 / 0.30, 1e-6);
  EXPECT_NEAR(predict(Scheme::exact_bf16, input).speed_up, 2, 1e-6);
}

TEST(Predict, TheOptimizerLimitsWhatHostsCanGive) {
  PredictInput input = input_of(63e6, 0.15, {4, 1}, {1e15, 0});
  input.facts.batch_is_global = true;
  input.facts.compute.optimizer = 0.05;
  EXPECT_NEAR(predict(Scheme::exact_bf16, input).speed_up, (4 * 0.15 + 0.05) / 0.20, 1e-6);
}

TEST(Predict, AHostWithMostOfTheWorkersGainsLittleFromAnother) {
  const ClusterShape three_and_one{2, 3, false, 4};
  for (const bool global : {false, true}) {
    PredictInput input = input_of(63e6, 0.15, three_and_one, {1e15, 0});
    input.facts.batch_is_global = global;
    EXPECT_NEAR(predict(Scheme::exact_bf16, input).speed_up, 4.0 / 3, 1e-6);
    EXPECT_NEAR(predict(Scheme::exact_bf16, input).tokens_per_second, 16384 / 0.15, 1e-3);
    EXPECT_NEAR(predict(Scheme::one_host, input).tokens_per_second, 0.75 * 16384 / 0.15, 1e-3);
  }
}

TEST(Predict, SoftwareCountsBetweenHosts) {
  PredictInput input = input_of(63e6, 0.15, kTwoByTwo, {kGigabit, 0});
  const double before = predict(Scheme::exact_bf16, input).step_seconds;
  input.software.per_value_seconds = 1e-9;
  EXPECT_NEAR(predict(Scheme::exact_bf16, input).step_seconds - before, 0.063, 0.001);
  EXPECT_LT(predict(Scheme::exact_bf16, input).efficiency, 1);
}

TEST(Predict, TheChoiceIsTheMostExactThatIsNearlyFree) {
  const std::vector<Scheme> all{Scheme::exact_bf16, Scheme::int8, Scheme::int4, Scheme::local_int8,
                                Scheme::local_int4};
  const auto choice = [&](double gigabits) {
    return choose_scheme(input_of(63e6, 0.15, kTwoByTwo, {gigabits * kGigabit, 2e-4}, 16), all);
  };
  EXPECT_EQ(choice(100).scheme, Scheme::exact_bf16);
  EXPECT_EQ(choice(10).scheme, Scheme::exact_bf16);
  EXPECT_EQ(choice(6).scheme, Scheme::int8);
  EXPECT_EQ(choice(3).scheme, Scheme::int4);
  EXPECT_EQ(choice(1).scheme, Scheme::local_int8);
  EXPECT_EQ(choice(1).local_steps, 5);
  EXPECT_EQ(choice(0.1).scheme, Scheme::local_int4);
  EXPECT_NEAR(static_cast<double>(choice(0.1).local_steps), 23, 1);
  EXPECT_GE(choice(0.1).speed_up, 1.8);
  EXPECT_EQ(choice(0.0001).scheme, Scheme::one_host);
  // What is ready last cannot hide, and asks for a faster link or fewer bits.
  const auto of_tied = [&](double gigabits) {
    return choose_scheme(
        with_tied_embedding(input_of(63e6, 0.15, kTwoByTwo, {gigabits * kGigabit, 2e-4}, 16)), all);
  };
  EXPECT_EQ(of_tied(100).scheme, Scheme::exact_bf16);
  EXPECT_EQ(of_tied(20).scheme, Scheme::exact_bf16);
  EXPECT_EQ(of_tied(10).scheme, Scheme::int8);
  EXPECT_EQ(of_tied(6).scheme, Scheme::int4);
  EXPECT_EQ(of_tied(3).scheme, Scheme::local_int8);
  EXPECT_EQ(of_tied(0.1).scheme, Scheme::local_int4);
  // A program that has exact only says so, rather than doing worse than one host.
  EXPECT_EQ(
      choose_scheme(input_of(63e6, 0.15, kTwoByTwo, {kTenth, 0}), {Scheme::exact_bf16}).scheme,
      Scheme::one_host);
}

void set_codec(SoftwareCost& software, Scheme scheme, double nanoseconds) {
  software.codec_per_value.at(static_cast<std::size_t>(scheme)) = 1e-9 * nanoseconds;
}

TEST(Predict, WhatAnExchangeTakesFromTrainingIsRareHoweverFastTheLinkIs) {
  const std::vector<Scheme> local{Scheme::local_int8, Scheme::local_int4};
  PredictInput input = input_of(63e6, 0.15, kTwoByTwo, {kGigabit, 0});
  set_codec(input.software, Scheme::local_int8, 1);
  set_codec(input.software, Scheme::local_int4, 1);
  const Prediction choice = choose_scheme(input, local);
  EXPECT_EQ(choice.scheme, Scheme::local_int8);  // int4 would not be exchanged more often
  EXPECT_EQ(choice.local_steps, 21);             // 0.063 s are 2 % of 21 steps
  EXPECT_NEAR(choice.efficiency, 1 / 1.02, 0.001);
  // Over a slow link the transfer decides, and with it the bits.
  input.link.bytes_per_second = kTenth;
  EXPECT_EQ(choose_scheme(input, local).scheme, Scheme::local_int4);
  EXPECT_NEAR(static_cast<double>(choose_scheme(input, local).local_steps), 23, 1);
}

// As measured on a machine whose links are its memory: exact 1, int8 3, int4 4, local 6 ns a value.
PredictInput with_codecs(PredictInput input) {
  set_codec(input.software, Scheme::exact_bf16, 1);
  set_codec(input.software, Scheme::int8, 3);
  set_codec(input.software, Scheme::int4, 4);
  set_codec(input.software, Scheme::local_int8, 6);
  set_codec(input.software, Scheme::local_int4, 6);
  return input;
}

TEST(Predict, CodesTakeTimeToo) {
  const PredictInput bytes = input_of(63e6, 0.15, kTwoByTwo, {10 * kGigabit, 0});
  const PredictInput all = with_codecs(bytes);
  const auto more = [&](Scheme scheme, std::int64_t steps = 0) {
    return predict(scheme, all, steps).step_seconds - predict(scheme, bytes, steps).step_seconds;
  };
  EXPECT_NEAR(more(Scheme::exact_bf16), 0.063, 1e-3);
  EXPECT_GT(more(Scheme::int4), 0.1);
  EXPECT_NEAR(more(Scheme::local_int8, 5), 6 * 0.063 / 5, 1e-3);
}

TEST(Predict, NothingLossyIsChosenWhereTheProcessorIsTheLimit) {
  const std::vector<Scheme> all{Scheme::exact_bf16, Scheme::int8, Scheme::int4, Scheme::local_int8,
                                Scheme::local_int4};
  const auto choice = [&](double gigabits, double beside, double compute = 0.10) {
    PredictInput input =
        with_codecs(input_of(63e6, compute, kTwoByTwo, {gigabits * kGigabit, 2e-4}, 16));
    input.software.per_value_seconds = beside;
    return choose_scheme(input, all).scheme;
  };
  EXPECT_EQ(choice(100, 0), Scheme::exact_bf16);
  EXPECT_EQ(choice(20, 0), Scheme::exact_bf16);
  EXPECT_EQ(choice(10, 1e-9, 0.15), Scheme::exact_bf16);
  EXPECT_NE(choice(1, 1e-9), Scheme::exact_bf16);
}

// The rule above is no reason to be slower than one host alone: less frequent exchanges help there.
TEST(Predict, ExactThatIsSlowerThanOneHostIsNotChosenForItsLink) {
  const std::vector<Scheme> all{Scheme::exact_bf16, Scheme::int8, Scheme::int4, Scheme::local_int8,
                                Scheme::local_int4};
  const auto input = [](double compute) {
    PredictInput in = with_codecs(input_of(63e6, compute, kTwoByTwo, {20 * kGigabit, 0}));
    in.software.per_value_seconds = 4e-9;
    return in;
  };
  const PredictInput slow = input(0.10), slower = input(0.30);
  ASSERT_LT(predict(Scheme::exact_bf16, slow).speed_up, 1);
  const Prediction choice = choose_scheme(slow, all);
  EXPECT_TRUE(is_local(choice.scheme));
  EXPECT_GT(choice.speed_up, 1.5);
  EXPECT_EQ(choose_scheme(slow, {Scheme::exact_bf16}).scheme, Scheme::one_host);
  // With as many bytes on the same link, but more to compute, it pays.
  ASSERT_GT(predict(Scheme::exact_bf16, slower).step_seconds,
            kNearlyFree * step_without_links(slower));
  ASSERT_GE(predict(Scheme::exact_bf16, slower).speed_up, 1);
  EXPECT_EQ(choose_scheme(slower, all).scheme, Scheme::exact_bf16);
}

TEST(Predict, WhatAnExchangeTakesBesideItsCodeAndTheLink) {
  const PredictInput input = with_codecs(input_of(63e6, 0.15, kTwoByTwo, {1e9, 0}));
  TravelCost cost;
  cost.per_value_seconds = 5e-9;  // 2 of the link, 1 of the code
  EXPECT_NEAR(beside_code_and_link(cost, Scheme::exact_bf16, input), 2e-9, 1e-12);
  cost.per_value_seconds = 1e-6;  // a busy moment
  EXPECT_NEAR(beside_code_and_link(cost, Scheme::exact_bf16, input), 3e-9, 1e-12);
  cost.per_value_seconds = 1e-9;
  EXPECT_EQ(beside_code_and_link(cost, Scheme::exact_bf16, input), 0);
}

TEST(Predict, GoodputOfAWire) {
  EXPECT_NEAR(tcp_goodput(1e9), kGigabit, 0.3e6);
  EXPECT_NEAR(tcp_goodput(1e8), kTenth, 0.03e6);
}

}  // namespace
}  // namespace tandem
