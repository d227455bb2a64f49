#include "train/trainer.h"

#include <gtest/gtest.h>

#include <numeric>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "observe/console.h"
#include "observe/journal.h"
#include "train/sample_run.h"

namespace tandem {
namespace {

// A run in a folder of its own, up to the end.
struct Session {
  explicit Session(TrainSetting setting_, at::ScalarType compute = at::kFloat)
      : setting(std::move(setting_)),
        corpus(sample_corpus(folder.path())),
        model(sample_model(), kSampleWords, at::kCPU, compute),
        adam(model.params(), setting.optim),
        run(folder.path()) {
    model.initialize(setting.seed);
    adam.start_average();
    state.loss_scale.scale = setting.fp16 ? setting.optim.loss_scale : 1;
  }

  EndRecord train() {
    Loader loader(corpus, sample_order(setting, {0, 1}), state.cursor);
    RunConfig config;
    config.checkpoint = setting.checkpoint;
    CheckpointStore store(run, {config, "vocab"}, model.params());
    std::vector<std::uint32_t> pairs(20);
    std::iota(pairs.begin(), pairs.end(), 0);
    const Batch judged_on = pack(corpus, measure_sentences(corpus.lengths(), pairs));
    const Evaluate evaluate = [&](const Transformer& judged,
                                  std::int64_t) -> std::optional<EvalResult> {
      if (stop) return {};
      EvalResult result;
      const at::NoGradGuard no_gradient;
      const LossTerms loss = judged.loss(judged_on, {});
      result.val_loss = result.train_loss =
          loss.nll.item<double>() / static_cast<double>(loss.tokens);
      return result;
    };
    const Sample sample = [](const Transformer&) {
      return std::vector<SampleTranslation>{{"a", "b", "c"}};
    };
    Comm comm;
    GradExchange exchange(comm, model.params().gradients(), {}, {});
    Trainer trainer(setting,
                    {model, adam, loader, comm, exchange, store, observers, evaluate, sample, stop},
                    state);
    EndRecord end = trainer.run();
    state = trainer.state();
    return end;
  }

  TrainSetting setting;
  TemporaryFolder folder;
  Corpus corpus;
  Transformer model;
  Adam adam;
  RunFolder run;
  ObserverList observers;
  TrainState state;
  std::atomic<bool> stop = false;
};

// A signal that comes just after a step.
struct StopAt final : Observer {
  StopAt(std::int64_t step_, std::atomic<bool>& stop_) : step(step_), stop(stop_) {}
  void on_step(const StepRecord& record) override { stop = record.step == step; }
  std::int64_t step;
  std::atomic<bool>& stop;
};

TEST(Trainer, WatchersDoNotChangeTheWeights) {
  Session alone(sample_setting(50)), watched(sample_setting(50));
  std::vector<StepRecord> heard;
  watched.observers.add("listener", std::make_unique<Listener>(heard));
  watched.observers.add("journal",
                        std::make_unique<Journal>(watched.run.journal(), [] { return 0.0; }));
  watched.observers.add("console", std::make_unique<Console>(ConsoleSetting{.log_every = 25},
                                                             watched.folder.path() / "log"));
  EXPECT_EQ(alone.train().reason, "steps");
  EXPECT_EQ(watched.train().reason, "steps");
  EXPECT_EQ(heard.size(), 50u);
  EXPECT_TRUE(at::equal(alone.model.params().values(), watched.model.params().values()));
  EXPECT_TRUE(at::equal(alone.adam.averaged(), watched.adam.averaged()));
  EXPECT_LT(heard.back().loss, heard.front().loss - 0.5);  // and it learns
}

TEST(Trainer, SamplesComeBetweenEvaluations) {
  struct SampleListener final : Observer {
    explicit SampleListener(std::vector<std::int64_t>& steps_) : steps(steps_) {}
    void on_samples(const SamplesRecord& record) override { steps.push_back(record.step); }
    std::vector<std::int64_t>& steps;
  };
  TrainSetting setting =
      sample_setting(16);  // evaluated every 5 steps, which show samples of their own
  setting.sample_every = 3;
  Session session(setting);
  std::vector<std::int64_t> steps;
  session.observers.add("listener", std::make_unique<SampleListener>(steps));
  session.train();
  EXPECT_EQ(steps, (std::vector<std::int64_t>{3, 6, 9, 12}));
}

TEST(Trainer, AnEvaluationThatASignalEndedIsMadeUpForByTheResumedRun) {
  struct EvalListener final : Observer {
    explicit EvalListener(std::vector<std::int64_t>& steps_) : steps(steps_) {}
    void on_eval(const EvalRecord& record) override { steps.push_back(record.step); }
    std::vector<std::int64_t>& steps;
  };
  Session session(sample_setting(12));  // evaluated every 5 steps
  std::vector<std::int64_t> steps;
  session.observers.add("listener", std::make_unique<EvalListener>(steps));
  session.observers.add("signal", std::make_unique<StopAt>(5, session.stop));
  EXPECT_EQ(session.train().reason, "signal");
  EXPECT_EQ(session.state.step, 5);
  EXPECT_TRUE(session.run.list_checkpoints().contains(5));
  EXPECT_TRUE(steps.empty());
  session.stop = false;
  EXPECT_EQ(session.train().reason, "steps");
  EXPECT_EQ(steps, (std::vector<std::int64_t>{5, 10, 12}));
}

TEST(Trainer, ASignalInTheLastEvaluationIsTheReasonOfTheEnd) {
  Session session(sample_setting(4));
  session.observers.add("signal", std::make_unique<StopAt>(4, session.stop));
  EXPECT_EQ(session.train().reason, "signal");
  session.stop = false;
  EXPECT_EQ(session.train().reason, "steps");
  EXPECT_EQ(session.state.evaluated_step, 4);
}

TEST(Trainer, MicroBatchesAreOneUpdate) {
  TrainSetting whole = sample_setting(10), cut = sample_setting(10);
  whole.max_tokens_per_micro = 100000;
  Session one(whole), many(cut);
  std::vector<StepRecord> of_one, of_many;
  one.observers.add("listener", std::make_unique<Listener>(of_one));
  many.observers.add("listener", std::make_unique<Listener>(of_many));
  one.train();
  many.train();
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(of_one[i].micro_batches, 1);
    EXPECT_GE(of_many[i].micro_batches, 2);
    EXPECT_NEAR(of_one[i].loss, of_many[i].loss, 1e-4);
    EXPECT_NEAR(of_one[i].grad_norm, of_many[i].grad_norm, 1e-3);
  }
}

TEST(Trainer, AnOverflowSkipsTheStepAndNeverReachesTheWeights) {
  TrainSetting setting = sample_setting(1);
  setting.fp16 = true;
  setting.optim.loss_scale = std::pow(2.0, 30);
  setting.optim.loss_scaling = LossScaling::fixed;
  Session session(setting, at::kHalf);
  std::vector<StepRecord> heard;
  session.observers.add("listener", std::make_unique<Listener>(heard));
  const Tensor before = session.model.params().values().detach().clone();
  session.train();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(heard[0].skipped);
  EXPECT_TRUE(at::equal(before, session.model.params().values()));
  EXPECT_EQ(session.state.loss_scale.skipped, 1);
  EXPECT_EQ(session.state.step, 1);
  EXPECT_EQ(session.state.updates, 0);
}

TEST(Trainer, BackoffFindsAScaleThatWorks) {
  TrainSetting setting = sample_setting(40);
  setting.fp16 = true;
  setting.optim.loss_scale = std::pow(2.0, 30);
  Session session(setting, at::kHalf);
  std::vector<StepRecord> heard;
  session.observers.add("listener", std::make_unique<Listener>(heard));
  session.train();
  EXPECT_GT(session.state.loss_scale.skipped, 0);
  EXPECT_FALSE(heard.back().skipped);
  EXPECT_LT(heard.back().loss, heard.front().loss);
}

TEST(Trainer, AScaleThatTriesToGrowAfterEveryStepIsNoDivergence) {
  TrainSetting setting = sample_setting(300);
  setting.fp16 = true;
  setting.optim.loss_scale = std::pow(2.0, 30);
  setting.optim.loss_scale_window = 1;
  Session session(setting, at::kHalf);
  session.train();
  EXPECT_GT(session.state.loss_scale.skip_share, kMostNonFiniteShare);
  EXPECT_EQ(session.state.step, 300);
}

TEST(Trainer, LossesThatAreNotFiniteAreDivergenceAndNothingOfThemIsKept) {
  TrainSetting setting = sample_setting(50);
  setting.checkpoint.every = 1;
  Session session(setting);
  {
    const at::NoGradGuard no_gradient;
    session.model.params().values()[3] = std::nanf("");
  }
  try {
    session.train();
    FAIL();
  } catch (const Diverged& found) {
    EXPECT_EQ(found.step, kMostNonFinite);
  }
  EXPECT_TRUE(session.run.list_checkpoints().empty());
  EXPECT_EQ(session.adam.first_moment().abs().max().item<float>(), 0);
}

// Of which the weights are lost at a step, and which keeps what it was told.
struct Lossy final : Observer {
  Lossy(std::int64_t step_, Tensor values_, std::vector<std::string>& warnings_)
      : step(step_), values(std::move(values_)), warnings(warnings_) {}
  void on_step(const StepRecord& record) override {
    const at::NoGradGuard no_gradient;
    if (record.step == step) values[3] = std::nanf("");
  }
  void on_event(const EventRecord& record) override {
    if (record.kind == "warning") warnings.push_back(record.text);
  }
  std::int64_t step;
  Tensor values;
  std::vector<std::string>& warnings;
};

TEST(Trainer, WeightsThatAreNotNumbersAtTheEndAreDivergence) {
  Session session(sample_setting(9));
  std::vector<std::string> warnings;
  session.observers.add("lossy",
                        std::make_unique<Lossy>(9, session.model.params().values(), warnings));
  try {
    session.train();
    FAIL();
  } catch (const Diverged& found) {
    EXPECT_EQ(found.step, 9);
    EXPECT_STREQ(found.what(),
                 "training diverged at step 9, at a learning rate of 0.01: the weights are not "
                 "numbers");
  }
  EXPECT_EQ(warnings,
            std::vector<std::string>{"step 9 could not be saved: the weights are not numbers"});
  EXPECT_FALSE(session.run.list_checkpoints().contains(9));
}

TEST(Trainer, ASignalSaysThatWeightsWereNotSavedAndWhichWere) {
  for (const std::int64_t every : {4, 0}) {
    TrainSetting setting = sample_setting(50);
    setting.checkpoint.every = every;
    Session session(setting);
    std::vector<std::string> warnings;
    session.observers.add("lossy",
                          std::make_unique<Lossy>(6, session.model.params().values(), warnings));
    session.observers.add("signal", std::make_unique<StopAt>(6, session.stop));
    const EndRecord end = session.train();
    EXPECT_EQ(end.reason, "signal");
    EXPECT_EQ(end.not_saved, every == 4
                                 ? "the weights are not numbers; the newest checkpoint is step 4"
                                 : "the weights are not numbers; there is no checkpoint");
    EXPECT_EQ(warnings.size(), 1u);
  }
}

TEST(Trainer, EverySecondStepThatIsNotFiniteIsDivergence) {
  Session session(sample_setting(500));
  struct Spoiler final : Observer {
    explicit Spoiler(Tensor values_) : values(std::move(values_)) {}
    void on_step(const StepRecord& record) override {
      const at::NoGradGuard no_gradient;
      if (record.step % 2 == 0) {
        values[3] = kept;
      } else {
        kept = values[3].item<float>();
        values[3] = std::nanf("");
      }
    }
    Tensor values;
    float kept = 0;
  };
  session.observers.add("spoiler", std::make_unique<Spoiler>(session.model.params().values()));
  EXPECT_THROW(session.train(), Diverged);
  EXPECT_LT(session.state.step, 200);
}

TEST(Trainer, TheFlagEndsItWithACheckpoint) {
  Session session(sample_setting(50));
  session.state.step = 0;
  struct Stopper final : Observer {
    explicit Stopper(std::atomic<bool>& flag_) : flag(flag_) {}
    void on_step(const StepRecord& record) override { flag = record.step == 3; }
    std::atomic<bool>& flag;
  };
  session.observers.add("stopper", std::make_unique<Stopper>(session.stop));
  const EndRecord end = session.train();
  EXPECT_EQ(end.reason, "signal");
  EXPECT_EQ(end.not_saved, "");
  EXPECT_EQ(checkpoint_problem(session.run.checkpoint(3)), "");
}

TEST(Trainer, TheLastStepIsSavedAgainWhenItsSaveFailed) {
  // What is in the way of the first save is gone when its failure is told.
  struct Obstacle final : Observer {
    explicit Obstacle(fs::path path_) : path(std::move(path_)) { atomic_write(path, "in the way"); }
    void on_event(const EventRecord& record) override {
      if (record.text.find("could not be saved") != std::string::npos) fs::remove(path);
    }
    fs::path path;
  };
  for (const std::int64_t eval_every : {7, 100}) {  // judged before the end, or at it
    TrainSetting setting = sample_setting(7);
    setting.checkpoint.every = 7;
    setting.eval_every = eval_every;
    Session session(setting);
    fs::create_directories(session.run.checkpoints());
    const fs::path partial = session.run.checkpoints() / ".step-00000007.partial";
    session.observers.add("obstacle", std::make_unique<Obstacle>(partial));
    EXPECT_EQ(session.train().reason, "steps");
    EXPECT_FALSE(fs::exists(partial)) << "the failure was told";
    EXPECT_EQ(checkpoint_problem(session.run.checkpoint(7)), "");
  }
}

TEST(Trainer, ALastStepThatCannotBeSavedIsAnError) {
  TrainSetting setting = sample_setting(7);
  setting.checkpoint.every = setting.eval_every = 7;
  Session session(setting);
  fs::create_directories(session.run.checkpoints());
  atomic_write(session.run.checkpoints() / ".step-00000007.partial", "in the way");
  EXPECT_THROW(session.train(), EnvError);
}

TEST(Trainer, AFinishedRunDoesNothingMore) {
  Session session(sample_setting(6));
  session.train();
  const Tensor before = session.model.params().values().detach().clone();
  EXPECT_EQ(session.train().step, 6);
  EXPECT_TRUE(at::equal(before, session.model.params().values()));
}

}  // namespace
}  // namespace tandem
