#include "config/run_config.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "config/describe.h"

namespace tandem {
namespace {

// Stands for a value of any type. The lvalue conversion makes std::optional take it by its own
// constructor, which would be ambiguous otherwise.
struct Anything {
  template <class T>
  operator T() const&;  // NOLINT: never defined, only asked for
};

// How many fields an aggregate has: the most values that it can be built from.
template <class T, class... Values>
constexpr std::size_t arity() {
  if constexpr (requires { T{Values{}..., Anything{}}; }) {
    return arity<T, Values..., Anything>();
  } else {
    return sizeof...(Values);
  }
}

// Counts what describe() names, sections as one each.
struct Counter {
  std::size_t count = 0;
  void operator()(auto&&...) { ++count; }
  void section(auto&&...) { ++count; }
};
template <class Section>
std::size_t described() {
  Section section;
  Counter counter;
  describe(counter, section);
  return counter.count;
}

struct TwoAndThree {
  std::optional<double> a;
  std::string b;
  Precision c;
  bool d = false;
  std::optional<std::string> e;
};

TEST(RunConfig, ArityCountsFieldsOfEveryKind) {
  EXPECT_EQ(arity<TwoAndThree>(), 5u);
}

template <class Section>
class EverySection : public testing::Test {};
using Sections =
    testing::Types<RunConfig, DataConfig, ModelConfig, BatchConfig, OptimConfig, EvalConfig,
                   CheckpointConfig, StopConfig, ClusterConfig, LogConfig, CostConfig>;
TYPED_TEST_SUITE(EverySection, Sections);

TYPED_TEST(EverySection, EveryFieldIsDescribedOnce) {
  EXPECT_EQ(arity<TypeParam>(), described<TypeParam>());
}

TEST(RunConfig, EveryOptionHasItsOwnFieldAndKey) {
  RunConfig config;
  const std::vector<Option> options = options_of(config);
  std::set<std::string> keys;
  for (const Option& option : options) EXPECT_TRUE(keys.insert(option.key).second) << option.key;

  // Writing one option changes that option and no other.
  for (const Option& written : options) {
    RunConfig fresh;
    const std::vector<Option> bound = options_of(fresh);
    const auto index = static_cast<std::size_t>(&written - options.data());
    const Value before = bound[index].get();
    Value other;
    switch (written.kind) {
      case Kind::flag:
        other = !std::get<bool>(before);
        break;
      case Kind::integer:
        other = std::int64_t{77};
        break;
      case Kind::number:
        other = 0.77;
        break;
      case Kind::text:
        other = std::string("other");
        break;
      case Kind::choice:
        other = written.choices[written.choices[0] == std::get<std::string>(before) ? 1 : 0];
        break;
    }
    bound[index].set(other);
    for (std::size_t i = 0; i < options.size(); ++i) {
      EXPECT_EQ(bound[i].get() != options[i].get(), i == index) << written.key;
    }
  }
}

TEST(RunConfig, EveryOptionIsExplained) {
  RunConfig config;
  for (const Option& option : options_of(config)) {
    EXPECT_GE(option.sentence.size(), 10u) << option.key;
    EXPECT_LE(option.sentence.size(), 92u) << option.key << " does not fit on a line";
    EXPECT_EQ(range_problem(option, option.get()), "") << option.key;
    EXPECT_EQ(std::set<std::string>(option.choices.begin(), option.choices.end()).size(),
              option.choices.size());
    for (const std::string& word : option.choices) EXPECT_NE(word, "") << option.key;
  }
}

TEST(RunConfig, NamesThatScriptsRelyOnAreThere) {
  RunConfig config;
  std::set<std::string> keys;
  for (const Option& option : options_of(config)) keys.insert(option.key);
  for (const char* key : {"run",
                          "seed",
                          "device",
                          "data.path",
                          "data.max_length",
                          "model.preset",
                          "model.d_model",
                          "model.heads",
                          "model.ffn",
                          "model.encoder_layers",
                          "model.decoder_layers",
                          "model.norm",
                          "model.tied",
                          "model.dropout",
                          "batch.tokens",
                          "batch.sentences_per_worker",
                          "optim.lr",
                          "optim.warmup_steps",
                          "optim.schedule",
                          "optim.beta1",
                          "optim.beta2",
                          "optim.eps",
                          "optim.label_smoothing",
                          "optim.clip",
                          "optim.ema",
                          "precision",
                          "eval.every",
                          "eval.beam",
                          "eval.alpha",
                          "eval.sentences",
                          "checkpoint.every",
                          "checkpoint.keep",
                          "checkpoint.best",
                          "stop.steps",
                          "stop.epochs",
                          "stop.hours",
                          "stop.patience",
                          "stop.bleu",
                          "cluster.mode",
                          "cluster.wire",
                          "cluster.interface",
                          "cluster.require",
                          "cost.per_host_hour",
                          "cost.currency"}) {
    EXPECT_TRUE(keys.contains(key)) << key;
  }
}

TEST(ModelConfig, TheDefaultsAreThePresetBase) {
  RunConfig plain, preset;
  apply_preset(Preset::base, preset.model);
  const auto a = options_of(plain), b = options_of(preset);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].get(), b[i].get()) << a[i].key;
}

TEST(ModelConfig, ADropoutThatIsNotSetIsTheCommonOne) {
  ModelConfig model;
  model.dropout = 0.25;
  model.relu_dropout = 0.0;
  EXPECT_EQ(model.dropout_at(model.attention_dropout), 0.25);
  EXPECT_EQ(model.dropout_at(model.relu_dropout), 0.0);
}

}  // namespace
}  // namespace tandem
