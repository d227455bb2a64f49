#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/yaml_reader.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

// One source a YAML text, called a.yaml, b.yaml, ...
Resolved resolve_yaml(const Strings& texts) {
  std::vector<Assignments> sources;
  char name = 'a';
  for (const std::string& text : texts) {
    sources.push_back(read_yaml(text, std::string(1, name++) + ".yaml"));
  }
  return resolve(sources);
}

Strings problems_of(const Strings& texts) {
  Strings lines;
  for (const Problem& problem : resolve_yaml(texts).problems) {
    lines.push_back(problem.place + ": " + problem.message);
  }
  return lines;
}

RunConfig from_overrides(const Strings& overrides) {
  return load_config({}, overrides);
}

std::string error_of(const Strings& overrides, const std::vector<fs::path>& files = {}) {
  try {
    load_config(files, overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Load, LaterSourcesWin) {
  const auto resolved =
      resolve_yaml({"seed: 1\noptim: {lr: 1.5, eps: 1e-8}", "optim: {lr: 0.25}\nseed: 9"});
  EXPECT_TRUE(resolved.problems.empty());
  EXPECT_EQ(resolved.config.seed, 9);
  EXPECT_EQ(resolved.config.optim.lr, 0.25);
  EXPECT_EQ(resolved.config.optim.eps, 1e-8);
}

TEST(Load, TheFieldsTypeDecides) {
  // YAML would take these for a number, a boolean, a date and an octal number.
  const RunConfig config = from_overrides(
      {"run=12", "data.path=no", "cost.currency=2024-01-01", "seed=010", "optim.lr=1"});
  EXPECT_EQ(config.run, "12");
  EXPECT_EQ(config.data.path, "no");
  EXPECT_EQ(config.cost.currency, "2024-01-01");
  EXPECT_EQ(config.seed, 10);
  EXPECT_EQ(config.optim.lr, 1.0);
  EXPECT_EQ(resolve_yaml({"run: 1e3\ndata: {path: 007}"}).config.run, "1e3");
}

TEST(Load, WrongTypesAndRangesNameTheKeyAndWhatIsAllowed) {
  EXPECT_EQ(error_of({"seed=1.5"}),
            "command line: seed is \"1.5\", but a whole number is expected: 0 or more");
  for (const char* wrong : {"seed=",
                            "seed= 1",
                            "seed=1 ",
                            "seed=0x10",
                            "seed=9223372036854775808",
                            "seed=-1",
                            "seed=null",
                            "optim.lr=nan",
                            "optim.lr=inf",
                            "optim.lr=0",
                            "optim.lr=1e999",
                            "optim.lr=",
                            "optim.lr=1,5",
                            "optim.beta1=1",
                            "optim.beta2=-0.1",
                            "data.distribute=yes",
                            "data.distribute=1",
                            "data.distribute=True",
                            "device=CPU",
                            "device=gpu",
                            "run=",
                            "run=a\nb",
                            "run=\xff",
                            "run=\xed\xa0\x80",
                            "model.dropout=1",
                            "model.heads=0",
                            "precision=16",
                            "stop.bleu=0",
                            "stop.bleu=100.1",
                            "eval.beam=0",
                            "checkpoint.keep=0"}) {
    const std::string error = error_of({wrong});
    const std::string key = std::string(wrong).substr(0, std::string(wrong).find('='));
    EXPECT_THAT(error, HasSubstr(key + " ")) << wrong;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(Load, AllProblemsAtOnceEachWithItsPlace) {
  EXPECT_THAT(
      problems_of({"seed: one\nmodle:\n  heads: 4\noptim:\n  beta1: 2\n", "stop: {stepps: 3}"}),
      testing::ElementsAre("a.yaml:1: seed is \"one\", but a whole number is expected: 0 or more",
                           "a.yaml:3: unknown key \"modle.heads\" (did you mean \"model.heads\"?)",
                           "a.yaml:5: optim.beta1 is 2, but may be 0 to below 1",
                           "b.yaml:1: unknown key \"stop.stepps\" (did you mean \"stop.steps\"?)"));
}

TEST(Load, AKeyInTheWrongSectionIsFound) {
  EXPECT_THAT(error_of({"optim.d_model=3"}), HasSubstr("did you mean \"model.d_model\"?"));
  EXPECT_THAT(error_of({"d_model=3"}), HasSubstr("did you mean \"model.d_model\"?"));
  EXPECT_THAT(error_of({"MODEL.D_MODEL=3"}), HasSubstr("did you mean \"model.d_model\"?"));
  EXPECT_THAT(error_of({"precision=FP16"}), HasSubstr("did you mean \"fp16\"?"));
  EXPECT_THAT(error_of({"device=gpu"}), testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(error_of({"d_modle=3"}), HasSubstr("did you mean \"model.d_model\"?"));
  EXPECT_THAT(error_of({"train.warmup_steps=3"}), HasSubstr("\"optim.warmup_steps\"?"));
  EXPECT_THAT(error_of({"something.else=3"}), HasSubstr("tandem config --defaults"));
}

TEST(Load, WhatIsNotSectionKeyValueIsRefused) {
  EXPECT_THAT(problems_of({"optim: 3"}),
              testing::ElementsAre("a.yaml:1: optim is a section, not a value; set its keys, such "
                                   "as optim.schedule"));
  EXPECT_THAT(problems_of({"seed: {a: 1}"}), testing::Not(testing::IsEmpty()));
  for (const char* wrong : {
           "seed: [1, 2]",
           "model: {heads: {a: 1}}",
           "[1, 2]",
           "just text",
           "{a: 1}: 3",
           "[a]: {b: 1}",
           "[a]: [b]",
           "\"\": 3",
           "? \n: 3",
           "seed: &a 3",
           "seed: !!int 3",
           "seed: 3\nseed: 4",
           "optim: {lr: 1, lr: 1}",
           "optim: {lr: 1}\noptim: {eps: 1}",
           "optim.lr: 1\noptim: {lr: 2}",
           "seed: &x 1\nthreads: *x",
           "seed: *nothing",
           "seed: 1\n---\nseed: 2",
           "seed: \"open",
           "seed: 1\n  threads: 2",
           "\tseed: 1",
           "optim: {lr: 1",
           "<<: {seed: 1}",
           "seed: 1: 2",
           "run: \xff\xfe",
       }) {
    const Strings problems = problems_of({wrong});
    EXPECT_FALSE(problems.empty()) << wrong;
    EXPECT_THAT(problems, testing::Each(testing::StartsWith("a.yaml:"))) << wrong;
  }
}

TEST(Load, ALineThatIsNoYamlIsOneProblem) {
  EXPECT_THAT(problems_of({"model:\n\tpreset: tiny\n"}),
              testing::ElementsAre(testing::StartsWith("a.yaml:2: this is not valid YAML")));
}

TEST(Load, AfterSomethingRefusedTheRestIsStillRead) {
  EXPECT_EQ(resolve_yaml({"{a: 1}: 3\nseed: 7"}).config.seed, 7);
  EXPECT_EQ(resolve_yaml({"[a]: {b: 1}\nseed: 7"}).config.seed, 7);
  EXPECT_EQ(resolve_yaml({"threads: [1, [2, {a: b}]]\nseed: 7"}).config.seed, 7);
  EXPECT_EQ(resolve_yaml({"optim: {lr: {a: [b]}, eps: 0.5}\nseed: 7"}).config.optim.eps, 0.5);
}

TEST(Load, EmptyFilesAndSectionsAreFine) {
  for (const char* fine : {"", "\n", "# nothing\n", "---\n", "optim:\nseed: 3\n", "optim: {}\n",
                           "\xef\xbb\xbfseed: 3", "%YAML 1.2\n---\nseed: 3\n", "seed: 3\r\n"}) {
    EXPECT_THAT(problems_of({fine}), testing::IsEmpty()) << fine;
  }
}

TEST(Load, ExplicitKeysWinOverThePresetWhereverTheyStand) {
  const auto check = [](const RunConfig& config) {
    EXPECT_EQ(config.model.d_model, 256);
    EXPECT_EQ(config.model.heads, 16);
    EXPECT_EQ(config.model.ffn, 4096);
    EXPECT_EQ(config.model.dropout, 0.3);
  };
  check(resolve_yaml({"model: {preset: big, d_model: 256}"}).config);
  check(resolve_yaml({"model: {d_model: 256, preset: big}"}).config);
  check(resolve_yaml({"model: {d_model: 256}", "model: {preset: big}"}).config);
  check(from_overrides({"model.d_model=256", "model.preset=tiny", "model.preset=big"}));
}

TEST(Load, TheBatchIsGivenInOneWay) {
  const std::string both = "batch: {tokens: 4096, sentences_per_worker: 2}";
  EXPECT_THAT(problems_of({both}), testing::ElementsAre(HasSubstr("exclude each other")));
  EXPECT_THAT(problems_of({"batch: {tokens: null}"}),
              testing::ElementsAre(HasSubstr("must be set")));

  // The default gives way, and the later source replaces the other way of an earlier one.
  const BatchConfig own = resolve_yaml({"batch: {sentences_per_worker: 2}"}).config.batch;
  EXPECT_EQ(own.tokens, std::nullopt);
  EXPECT_EQ(own.sentences_per_worker, 2);
  const auto later = resolve_yaml({"batch: {sentences_per_worker: 2}", "batch: {tokens: 4096}"});
  EXPECT_TRUE(later.problems.empty());
  EXPECT_EQ(later.config.batch.tokens, 4096);
  EXPECT_EQ(later.config.batch.sentences_per_worker, std::nullopt);
}

TEST(Load, ValuesThatDoNotGoTogetherNameBothPlaces) {
  EXPECT_THAT(problems_of({"model:\n  heads: 6", "\nmodel: {d_model: 128}"}),
              testing::ElementsAre("b.yaml:2, a.yaml:2: model.heads=6 does not divide "
                                   "model.d_model=128; choose heads that do"));
  // A key that is wrong by itself is not blamed a second time.
  EXPECT_THAT(problems_of({"model: {heads: 7, d_model: wide}"}), testing::SizeIs(1));
}

TEST(Load, UnsetIsNullEverywhere) {
  EXPECT_EQ(from_overrides({"stop.steps=null", "stop.hours=2"}).stop.steps, std::nullopt);
  EXPECT_EQ(from_overrides({"stop.steps=~", "stop.hours=2"}).stop.steps, std::nullopt);
  EXPECT_EQ(resolve_yaml({"cluster: {interface: null}"}).config.cluster.interface, std::nullopt);
  EXPECT_EQ(resolve_yaml({"cluster: {interface: \"null\"}"}).config.cluster.interface, "null");
}

TEST(Load, FilesAndOverridesAreToldApart) {
  const auto split = split_settings(Strings{"a.yaml", "optim.lr=2", "best/val_loss=1.6/config.yaml",
                                            "./x=y.yaml", "data.path=/a/b"});
  EXPECT_EQ(split.files,
            (std::vector<fs::path>{"a.yaml", "best/val_loss=1.6/config.yaml", "./x=y.yaml"}));
  EXPECT_EQ(split.overrides, (Strings{"optim.lr=2", "data.path=/a/b"}));
}

TEST(Load, FilesThatCannotBeReadAreProblemsAmongOthers) {
  const std::string error = error_of({"seed=x"}, {"/no/such.yaml", "/tmp", "/dev/zero"});
  EXPECT_THAT(error, HasSubstr("4 problems"));
  EXPECT_THAT(error, HasSubstr("cannot read /no/such.yaml: No such file"));
  EXPECT_THAT(error, HasSubstr("/tmp: it is a directory"));
  EXPECT_THAT(error, HasSubstr("/dev/zero is larger than 256 KB"));
}

TEST(Load, AMessageCannotSteerTheTerminal) {
  const std::string error = error_of({"\x1b[2Jseed=1", "device=\x1b]0;x\x07"});
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
  EXPECT_THAT(error, HasSubstr("\\x1b[2Jseed"));
}

}  // namespace
}  // namespace tandem
