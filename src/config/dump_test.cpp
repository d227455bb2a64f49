#include "config/dump.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/rng.h"
#include "config/load.h"
#include "config/yaml_reader.h"

namespace tandem {
namespace {

std::vector<Value> values_of(RunConfig config) {
  std::vector<Value> values;
  for (const Option& option : options_of(config)) values.push_back(option.get());
  return values;
}

std::uint64_t bits(const Value& value) {
  const double* number = std::get_if<double>(&value);
  return number == nullptr ? 0 : std::bit_cast<std::uint64_t>(*number);
}

Resolved reload(const RunConfig& config) {
  const std::vector<Assignments> sources{read_yaml(dump_yaml(config), "dump")};
  return resolve(sources);
}

// Draws the n-th random value of an option, inside its range, unset now and then.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  Value value(const Option& option) {
    if (option.may_be_unset && below(3) == 0) return {};
    switch (option.kind) {
      case Kind::flag:
        return below(2) == 0;
      case Kind::integer: {
        const double most = std::min(option.limits.most, 9e18);
        const auto span = static_cast<std::uint64_t>(most - option.limits.least);
        return static_cast<std::int64_t>(
                   below(below(2) == 0 ? std::min<std::uint64_t>(span, 999) : span)) +
               static_cast<std::int64_t>(option.limits.least);
      }
      case Kind::number:
        return number(option.limits);
      case Kind::text:
        return text();
      case Kind::choice:
        break;
    }
    return option.choices[below(option.choices.size())];
  }

 private:
  std::uint64_t next() { return random_bits(seed_, 0, counter_++); }
  std::uint64_t below(std::uint64_t bound) { return bounded(next(), bound); }
  double number(const Limits& limits) {
    for (;;) {  // any bit pattern in the range: tiny, huge, with all digits
      const double drawn = std::abs(std::bit_cast<double>(next()));
      const double number = std::isfinite(limits.most) ? std::fmod(drawn, limits.most) : drawn;
      if (std::isfinite(number) && number > limits.least && number < limits.most) return number;
    }
  }
  std::string text() {
    static const std::vector<std::string> parts{"a",  " ", "\"", "\\", "'",     "#", ": ", "null",
                                                "-",  "{", "}",  "[",  "%",     "&", "*",  "ü",
                                                "日", "😀", "~",  ",",  "\\x41", "@", "`",  "true"};
    std::string text;
    for (std::uint64_t i = 0, n = 1 + below(12); i < n; ++i) text += parts[below(parts.size())];
    return text;
  }
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

TEST(Dump, LoadsBackToTheSameValuesToTheLastBit) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RunConfig config;
    Draw draw(seed);
    for (const Option& option : options_of(config)) option.set(draw.value(option));
    // Values in range that conflict are not what is tested here.
    if (config.batch.tokens) config.batch.sentences_per_worker.reset();

    const Resolved back = reload(config);
    for (const Problem& problem : back.problems) {
      EXPECT_GT(problem.keys.size(), 0u) << problem.message;  // only rules over several options
    }
    const auto before = values_of(config), after = values_of(back.config);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i], after[i]) << options_of(config)[i].key;
      EXPECT_EQ(bits(before[i]), bits(after[i]));
    }
    EXPECT_EQ(fingerprint(config), fingerprint(back.config));
  }
}

TEST(Dump, DefaultsLoadBackWithoutProblems) {
  EXPECT_TRUE(reload(RunConfig{}).problems.empty());
}

TEST(Dump, NumbersLookLikeNumbersToOtherReaders) {
  RunConfig config;
  config.optim.eps = 1e-9;
  config.optim.lr = 2;
  const std::string yaml = dump_yaml(config);
  EXPECT_NE(yaml.find("eps: 1.0e-09 "), std::string::npos);
  EXPECT_NE(yaml.find("lr: 2.0 "), std::string::npos);
}

TEST(Fingerprint, EveryOptionChangesIt) {
  const std::uint64_t unchanged = fingerprint(RunConfig{});
  EXPECT_EQ(unchanged, fingerprint(RunConfig{}));
  RunConfig config;
  for (const Option& option : options_of(config)) {
    const Value before = option.get();
    Draw draw(1);
    Value other = before;
    while (other == before) other = draw.value(option);
    option.set(other);
    EXPECT_NE(fingerprint(config), unchanged) << option.key;
    option.set(before);
  }
  EXPECT_EQ(fingerprint(config), unchanged);
}

TEST(Fingerprint, UnsetAndTheTextNullDiffer) {
  RunConfig unset, text;
  text.cluster.interface = "null";
  EXPECT_NE(fingerprint(unset), fingerprint(text));
}

}  // namespace
}  // namespace tandem
