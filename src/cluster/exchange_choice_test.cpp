#include "cluster/exchange_choice.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

Prediction forecast(Scheme scheme, std::int64_t steps = 1) {
  Prediction prediction;
  prediction.scheme = scheme;
  prediction.local_steps = steps;
  return prediction;
}

ClusterConfig with_mode(ExchangeMode mode) {
  ClusterConfig config;
  config.mode = mode;
  return config;
}

TEST(ExchangeChoice, AutoTakesWhatWasForecast) {
  const ClusterConfig config;
  EXPECT_EQ(choose_exchange(config, {}, forecast(Scheme::exact_bf16)).mode, ExchangeMode::exact);
  const ExchangeChoice local = choose_exchange(config, {}, forecast(Scheme::local_int4, 24));
  EXPECT_EQ(local.mode, ExchangeMode::local);
  EXPECT_EQ(local.format, LinkFormat::int4);
  EXPECT_EQ(local.rhythm, rhythm_of(24));
}

TEST(ExchangeChoice, AResumedRunKeepsItsWayWhateverTheLinkSays) {
  const ExchangeChoice before{ExchangeMode::local, LinkFormat::int8, {7, 3}};
  EXPECT_EQ(choose_exchange({}, before, forecast(Scheme::exact_bf16)), before);
  EXPECT_EQ(
      choose_exchange(with_mode(ExchangeMode::local), before, forecast(Scheme::local_int4, 30)),
      before);
}

TEST(ExchangeChoice, SettingsHoldOverAllElse) {
  ClusterConfig config = with_mode(ExchangeMode::local);
  config.local_steps = 9;
  config.local_delay = 2;
  config.local_code = LocalCode::int8;
  const ExchangeChoice before{ExchangeMode::local, LinkFormat::int4, {7, 3}};
  const ExchangeChoice wanted{ExchangeMode::local, LinkFormat::int8, {9, 2}};
  EXPECT_EQ(choose_exchange(config, before, {}), wanted);
  EXPECT_EQ(choose_exchange(config, {}, forecast(Scheme::local_int8, 3)), wanted);
  EXPECT_EQ(choose_exchange(with_mode(ExchangeMode::int8), before, forecast(Scheme::int8)).mode,
            ExchangeMode::int8);
}

TEST(ExchangeChoice, OneHostIsExact) {
  EXPECT_EQ(choose_exchange({}, {}, {}).mode, ExchangeMode::exact);
  ClusterConfig config;
  config.wire = Wire::fp32;
  EXPECT_EQ(choose_exchange(config, {}, {}).format, LinkFormat::fp32);
}

TEST(ExchangeChoice, ReadsWhatItWrote) {
  for (const ExchangeChoice& choice :
       {ExchangeChoice{ExchangeMode::local, LinkFormat::int4, {24, 4}},
        ExchangeChoice{ExchangeMode::exact, LinkFormat::fp32, {}},
        ExchangeChoice{ExchangeMode::int8, LinkFormat::int8, {}}}) {
    EXPECT_EQ(choice_from_json(Json::parse(choice_json(choice).dump(), "choice")), choice);
    EXPECT_EQ(choice_of(scheme_of(choice)).format, choice.format);
  }
}

TEST(ExchangeChoice, ARhythmThatIsNoneIsRefused) {
  const Json stored = choice_json({ExchangeMode::local, LinkFormat::int4, {24, 4}});
  for (const auto& [key, number] : {std::pair{"local_steps", 0},
                                    {"local_steps", -1},
                                    {"local_delay", 0},
                                    {"local_delay", 25}}) {
    EXPECT_THROW(choice_from_json(Json(stored).set(key, number)), UserError) << key << number;
  }
}

TEST(ExchangeChoice, OnlyAutoHasAChoice) {
  EXPECT_EQ(schemes_of({}, false).size(), 5u);
  EXPECT_EQ(schemes_of({}, true).size(), 1u);
  EXPECT_EQ(schemes_of(with_mode(ExchangeMode::exact), false).size(), 1u);
  EXPECT_EQ(schemes_of({}, false).front(), Scheme::exact_bf16);
}

TEST(ExchangeChoice, AutoChoosesFromWhatTheSettingsLeaveOpen) {
  ClusterConfig config = with_mode(ExchangeMode::int4);
  EXPECT_EQ(schemes_of_auto(config, false, true).size(), 5u);
  config.wire = Wire::fp32;
  config.local_code = LocalCode::int4;
  const std::vector all{Scheme::exact_fp32, Scheme::int8, Scheme::int4, Scheme::local_int4};
  EXPECT_EQ(schemes_of_auto(config, false, true), all);
  EXPECT_EQ(schemes_of_auto(config, false, false).size(), 3u);
  EXPECT_EQ(schemes_of_auto(config, true, true), std::vector{Scheme::exact_fp32});
}

}  // namespace
}  // namespace tandem
