#include "report/verdicts/verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "report/synthetic_run.h"

namespace tandem {
namespace {

// One made-up run and what is true of it.
struct Case {
  std::string name;  // of the scenario
  std::string key;   // of the verdict
  SyntheticRun run;
  Ruling truth;
  std::function<bool(const Finding&)> more = [](const Finding&) { return true; };
};
using Cases = std::vector<Case>;

constexpr std::uint64_t kSeeds = 12;

// Calls make with runs that differ in seed, length and noise.
template <class Make>
void add(Cases& cases, const std::string& name, const std::string& key, Ruling truth, Make make) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SyntheticRun run;
    run.seed = seed * 7919 + cases.size();
    run.steps = static_cast<std::int64_t>(run.pick(1, 600, 4000));
    run.evals = static_cast<std::int64_t>(run.pick(2, 12, 40));
    run.noise = run.pick(3, 0.01, 0.06);
    run.eval_noise = run.pick(4, 0.0005, 0.002);
    Case made{name, key, run, truth};
    make(made.run, made);
    cases.push_back(std::move(made));
  }
}

Finding find(const std::vector<Finding>& all, const std::string& key) {
  return *std::ranges::find(all, key, &Finding::key);
}

std::string direction(const Finding& f) {
  const Json* found = f.evidence.find("direction");
  return found == nullptr ? "" : found->as_string();
}

void add_quality(Cases& cases) {
  add(cases, "levelled off", "fully_trained", Ruling::yes, [](SyntheticRun& r, Case&) {
    const double rate = r.pick(10, 0.05, 0.1);
    r.val_loss = [=](double t) { return 1.8 + 5 * std::exp(-t / rate); };
    r.bleu = [=](double t) { return 35 * (1 - std::exp(-t / rate)); };
  });
  add(cases, "still falling", "fully_trained", Ruling::no, [](SyntheticRun& r, Case&) {
    const double rate = r.pick(10, 0.5, 1.5);
    r.val_loss = [=](double t) { return 1.8 + 5 * std::exp(-t / rate); };
    r.bleu = [=](double t) { return 35 * (1 - std::exp(-t / rate)); };
  });
  add(cases, "falling as a power", "fully_trained", Ruling::no, [](SyntheticRun& r, Case&) {
    r.val_loss = [](double t) { return 1.2 + 1.0 * std::pow(t, -0.5); };
    r.bleu = [](double t) { return 40 - 14 * std::pow(t, -0.4); };
  });
  add(cases, "three evaluations", "fully_trained", Ruling::cannot_tell,
      [](SyntheticRun& r, Case&) { r.evals = 3; });
  add(cases, "overfitted", "overfitting", Ruling::yes, [](SyntheticRun& r, Case& c) {
    const double turn = r.pick(10, 0.35, 0.65), rise = r.pick(11, 0.4, 1.5);
    r.val_loss = [=](double t) {
      const double past = std::max(0.0, t - turn);
      return 2.1 + 5 * std::exp(-t / 0.08) + rise * past * past * 4;
    };
    r.slice_loss = [](double t) { return 2 + 5 * std::exp(-t / 0.08) - 0.8 * t; };
    c.more = [turn, steps = r.steps](const Finding& f) {
      const double best = f.evidence.at("best_step").as_double() / static_cast<double>(steps);
      return std::abs(best - turn) < 0.2;
    };
  });
  add(cases, "not overfitted", "overfitting", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "a gap, but no rise", "overfitting", Ruling::no, [](SyntheticRun& r, Case&) {
    r.slice_loss = [](double t) { return 1.5 + 6 * std::exp(-t / 0.1); };
  });
  add(cases, "two evaluations", "overfitting", Ruling::cannot_tell,
      [](SyntheticRun& r, Case&) { r.evals = 2; });
}

void add_speed(Cases& cases) {
  add(cases, "computing", "devices", Ruling::yes,
      [](SyntheticRun& r, Case&) { r.eval_seconds = 0.5; });
  add(cases, "waiting", "devices", Ruling::no, [](SyntheticRun& r, Case&) {
    r.workers = 4;
    r.exchange = r.pick(10, 0.5, 0.7);
  });
  add(cases, "too short to judge", "devices", Ruling::cannot_tell,
      [](SyntheticRun& r, Case&) { r.steps = 10; });
  add(cases, "slow link", "network", Ruling::yes, [](SyntheticRun& r, Case& c) {
    r.workers = 4;
    r.exchange = r.pick(10, 0.25, 0.8);
    c.more = [share = r.exchange](const Finding& f) {
      return std::abs(f.evidence.at("exposed_share").as_double() - share) < 0.01;
    };
  });
  add(cases, "fast link", "network", Ruling::no, [](SyntheticRun& r, Case&) {
    r.workers = 2;
    r.exchange = r.pick(10, 0.0, 0.06);
  });
  add(cases, "felt link", "network", Ruling::partly, [](SyntheticRun& r, Case&) {
    r.workers = 2;
    r.exchange = r.pick(10, 0.1, 0.18);
  });
  add(cases, "one worker", "network", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "slow disk", "data", Ruling::yes,
      [](SyntheticRun& r, Case&) { r.data = r.pick(10, 0.12, 0.6); });
  add(cases, "quick loader", "data", Ruling::no,
      [](SyntheticRun& r, Case&) { r.data = r.pick(10, 0.0, 0.02); });
  add(cases, "slow worker", "straggler", Ruling::yes, [](SyntheticRun& r, Case& c) {
    r.workers = 4;
    r.slow_factor = r.pick(10, 1.25, 2.5);
    r.wait = 0.2;
    c.more = [](const Finding& f) { return f.evidence.at("rank").as_int() == 1; };
  });
  add(cases, "even workers", "straggler", Ruling::no,
      [](SyntheticRun& r, Case&) { r.workers = 4; });
  add(cases, "one worker", "straggler", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "workers untold", "straggler", Ruling::cannot_tell, [](SyntheticRun& r, Case&) {
    r.workers = 4;
    r.tell_ranks = false;
  });
}

void add_trouble(Cases& cases) {
  add(cases, "diverging", "divergence", Ruling::yes, [](SyntheticRun& r, Case&) {
    const double turn = r.pick(10, 0.5, 0.85), rise = r.pick(11, 1, 4);
    r.train_loss = [=](double t) {
      return 2 + 6 * std::exp(-t / 0.1) + rise * std::max(0.0, t - turn) / (1 - turn);
    };
  });
  add(cases, "not a number", "divergence", Ruling::yes, [](SyntheticRun& r, Case&) {
    r.train_loss = [](double t) { return t > 0.999 ? NAN : 2 + 6 * std::exp(-t / 0.1); };
  });
  add(cases, "falling", "divergence", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "too short", "divergence", Ruling::cannot_tell,
      [](SyntheticRun& r, Case&) { r.steps = 30; });
  add(cases, "too high", "learning_rate", Ruling::yes, [](SyntheticRun& r, Case& c) {
    const double at = r.pick(10, 0.2, 0.6), height = r.pick(11, 0.6, 2);
    r.train_loss = [=](double t) {
      return 2 + 6 * std::exp(-t / 0.1) + height * std::exp(-std::pow((t - at) / 0.05, 2));
    };
    c.more = [](const Finding& f) { return direction(f) == "high"; };
  });
  add(cases, "too low", "learning_rate", Ruling::yes, [](SyntheticRun& r, Case& c) {
    const double slope = r.pick(10, 1.5, 4);
    r.train_loss = [=](double t) { return 8 - slope * t; };
    c.more = [](const Finding& f) { return direction(f) == "low"; };
  });
  add(cases, "right", "learning_rate", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "warming up", "learning_rate", Ruling::cannot_tell,
      [](SyntheticRun& r, Case&) { r.warmup = r.steps * 2; });
  add(cases, "one output", "collapse", Ruling::yes,
      [](SyntheticRun& r, Case&) { r.same_output = true; });
  add(cases, "different outputs", "collapse", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "one sample", "collapse", Ruling::cannot_tell,
      [](SyntheticRun& r, Case&) { r.samples = 1; });
  add(cases, "overflows", "loss_scale", Ruling::yes, [](SyntheticRun& r, Case&) {
    r.fp16 = true;
    r.skip_share = r.pick(10, 0.05, 0.3);
  });
  add(cases, "rare overflows", "loss_scale", Ruling::no, [](SyntheticRun& r, Case&) {
    r.fp16 = true;
    r.skip_share = 0.0005;
  });
  add(cases, "no scaling", "loss_scale", Ruling::no, [](SyntheticRun&, Case&) {});
  add(cases, "filling disk", "disk", Ruling::yes, [](SyntheticRun& r, Case&) {
    r.disk_free = 20e9;
    r.disk_loss_per_s = r.pick(10, 19.0e9, 19.9e9) / (static_cast<double>(r.steps) * 0.5);
  });
  add(cases, "empty disk", "disk", Ruling::no, [](SyntheticRun&, Case&) {});
}

Cases all_cases() {
  Cases cases;
  add_quality(cases);
  add_speed(cases);
  add_trouble(cases);
  return cases;
}

TEST(Verdicts, AreRightOnRunsWhoseTruthIsKnown) {
  const Cases cases = all_cases();
  ASSERT_GE(cases.size(), 200u);
  std::size_t wrong = 0;
  for (const Case& c : cases) {
    const RunLog log = c.run.log();
    const Finding f = find(judge(log, totals_of(log)), c.key);
    if (f.verdict == c.truth && c.more(f)) continue;
    ++wrong;
    std::printf("wrong: %s, seed %llu: %s (%s)\n", c.name.c_str(),
                static_cast<unsigned long long>(c.run.seed), f.text.c_str(),
                f.evidence.dump().c_str());
  }
  std::printf("%zu of %zu wrong\n", wrong, cases.size());
  EXPECT_LE(wrong, cases.size() / 50);
}

TEST(Verdicts, AHealthyRunRaisesNoAlarm) {
  std::size_t alarms = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SyntheticRun run;
    run.seed = seed;
    run.eval_seconds = 0.5;
    const RunLog log = run.log();
    for (const Finding& f : judge(log, totals_of(log))) {
      if (f.good) continue;
      ++alarms;
      std::printf("alarm, seed %llu: %s\n", static_cast<unsigned long long>(seed), f.text.c_str());
    }
  }
  EXPECT_EQ(alarms, 0u);
}

// Of the time: what was computing, and all that was lost.
double sum_of_shares(const RunLog& log) {
  const Finding f = find(judge(log, totals_of(log)), "devices");
  double sum = f.evidence.at("computing_share").as_double();
  for (const auto& [cause, share] : f.evidence.at("lost").members()) sum += share.as_double();
  return sum;
}

TEST(Verdicts, SharesOfTheTimeNeverAddUpToMoreThanOne) {
  constexpr double kRounding = 1e-9;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SyntheticRun run;
    run.seed = seed;
    run.steps = 200;
    run.workers = 2;
    run.exchange = run.pick(1, 0, 0.4);
    run.eval_seconds = run.pick(2, 0, 300);
    RunLog log = run.log();
    EXPECT_LE(sum_of_shares(log), 1 + kRounding) << seed;
    log.ends.back().record.seconds -= run.eval_seconds;  // saved before it evaluated, and resumed
    EXPECT_LE(sum_of_shares(log), 1 + kRounding) << seed;
    log.ends.clear();
    log.last_time = log.steps.back().time;
    EXPECT_LE(sum_of_shares(log), 1 + kRounding) << seed;
  }
}

TEST(Verdicts, ALinkThatChangedIsNamed) {
  SyntheticRun run;
  run.workers = 2;
  RunLog log = run.log();
  const auto network = [&] {
    for (const Finding& f : judge(log, totals_of(log))) {
      if (f.key == "network") return f;
    }
    return Finding{};
  };
  EXPECT_EQ(network().text.find("changed"), std::string::npos);
  log.events.push_back({1, {10, "link", "it carries 9 Gbps now"}});
  log.events.push_back({2, {40, "link", "it carries 50 Mbps now"}});
  EXPECT_NE(network().text.find("changed 2 times, last at step 40: it carries 50 Mbps now"),
            std::string::npos);
  EXPECT_EQ(network().evidence.at("link_changes").as_int(), 2);
}

TEST(Verdicts, AStragglerOfAnEarlierStartIsNotForgottenWhenOneWorkerGoesOn) {
  SyntheticRun run;
  run.workers = 4;
  run.slow_factor = 2;
  RunLog log = run.log();
  log.starts.push_back({log.last_time, {run.steps, Json::object()}});
  EXPECT_EQ(find(judge(log, totals_of(log)), "straggler").verdict, Ruling::yes);
  for (StepPoint& p : log.steps) p.slowest_rank = -1;
  EXPECT_EQ(find(judge(log, totals_of(log)), "straggler").text, "no: there was one worker");
}

// Validation loss turns up while the training slice falls; later it falls, too, but stays far from
// its best.
SyntheticRun overfitted_run(std::uint64_t seed) {
  SyntheticRun run;
  run.seed = seed;
  const double rise = run.pick(11, 0.5, 1.5), turn = run.pick(12, 0.2, 0.4);
  run.val_loss = [=](double t) {
    const double past = std::max(0.0, t - turn);
    return 2.1 + 5 * std::exp(-t / 0.08) + rise * (1 - std::exp(-past / 0.05)) * (1 - 0.3 * t);
  };
  run.slice_loss = [](double t) { return 2 + 5 * std::exp(-t / 0.08) - 0.8 * t; };
  return run;
}

TEST(Verdicts, MoreTrainingIsNoAdviceForARunThatOverfits) {
  for (std::uint64_t seed = 1; seed <= 5 * kSeeds; ++seed) {
    const RunLog log = overfitted_run(seed).log();
    const Finding f = find(judge(log, totals_of(log)), "fully_trained");
    EXPECT_NE(f.verdict, Ruling::no) << seed << ": " << f.text;
  }
}

TEST(Verdicts, TheBestModelIsNamedWhereItLies) {
  RunLog log = overfitted_run(1).log();
  const auto advice = [&] { return find(judge(log, totals_of(log)), "overfitting").advice; };
  EXPECT_NE(advice().find("(model/ has it)"), std::string::npos) << advice();
  log.ends.back().record.reason = "signal";
  EXPECT_NE(advice().find("(best/ has it)"), std::string::npos) << advice();
  log.ends.clear();
  EXPECT_NE(advice().find("(best/ has it)"), std::string::npos) << advice();
  log.starts.back().record.facts.set(
      "settings", Json::object().set("checkpoint", Json::object().set("best", 0)));
  EXPECT_EQ(advice().find("has it"), std::string::npos) << advice();
}

TEST(Verdicts, AdviceIsAboutTheLimitThatEndedTheRun) {
  SyntheticRun run;
  run.val_loss = [](double t) { return 1.8 + 5 * std::exp(-t); };
  RunLog log = run.log();
  const auto advice = [&] { return find(judge(log, totals_of(log)), "fully_trained").advice; };
  EXPECT_NE(advice().find("raise stop.steps to about 3000"), std::string::npos) << advice();
  log.ends.back().record.reason = "epochs";
  EXPECT_EQ(advice(), "train on, to step 3000 or further");
  log.ends.clear();
  EXPECT_EQ(advice(), "train on, to step 3000 or further");
  log.evals.clear();
  EXPECT_EQ(advice(), "lower eval.every, or train longer");
  log.starts.back().record.facts.set("settings",
                                     Json::object().set("eval", Json::object().set("every", 0)));
  EXPECT_EQ(advice(), "set eval.every");
}

TEST(Verdicts, ARunThatWentBackHadTooHighARateAndLostTheTimeOfIt) {
  RunLog log = SyntheticRun{}.log();
  log.starts.push_back({log.last_time - 1, {500, Json::object()}});
  log.events.push_back({log.last_time - 1, {500, "rollback", "training diverged at step 790"}});
  log.ends.back().record.seconds *= 2;  // as much again was thrown away
  const auto all = judge(log, totals_of(log));
  const Finding rate = find(all, "learning_rate");
  EXPECT_EQ(rate.text, "yes, too high: training diverged once and went back");
  EXPECT_EQ(direction(rate), "high");
  EXPECT_FALSE(rate.advice.empty());
  EXPECT_NE(find(all, "devices").text.find("work that was thrown away"), std::string::npos);
  EXPECT_NEAR(sum_of_shares(log), 1, 1e-9);
}

TEST(Verdicts, PhasesAreThoseOfAllWorkersNotOfASlowRank0) {
  SyntheticRun run;
  run.workers = 2;
  RunLog log = run.log();
  for (StepPoint& p : log.steps) {  // rank 0 computes all the time, rank 1 waits for half of it
    p.slowest_rank = 0;
    p.mean.wait = p.mean.total / 4;
    p.mean.forward *= 0.75;
    p.mean.backward *= 0.75;
  }
  const auto all = judge(log, totals_of(log));
  EXPECT_NE(find(all, "devices").text.find("waiting for the slowest worker (2"), std::string::npos)
      << find(all, "devices").text;
  EXPECT_NEAR(find(all, "straggler").evidence.at("wait_share").as_double(), 0.25, 0.01);
}

TEST(Verdicts, TheDiskThatFillsFirstIsNamed) {
  RunLog log = SyntheticRun{}.log();
  const auto disk = [&] { return find(judge(log, totals_of(log)), "disk"); };
  EXPECT_EQ(disk().text, "no: 500 GB are free");
  const auto samples = log.systems;
  log.systems.clear();
  for (const auto& sample : samples) {  // the newest sample is of the host with much room
    for (const char* host : {"full", "empty"}) {
      log.systems.push_back(sample);
      log.systems.back().record.host = host;
      if (host == std::string("full")) log.systems.back().record.disk_free_bytes = 1.5e9;
    }
  }
  EXPECT_EQ(disk().verdict, Ruling::yes);
  EXPECT_EQ(disk().text, "yes: 1.5 GB are free on full, two checkpoints take 2 GB");
  EXPECT_EQ(disk().evidence.at("host").as_string(), "full");
  log.starts.push_back({log.systems.back().time - 0.5, log.starts.back().record});
  log.systems.back().time += 1;
  log.systems[log.systems.size() - 2].time -= 1;  // it left before
  EXPECT_EQ(disk().text, "no: 500 GB are free");
}

TEST(Verdicts, AnEmptyJournalTellsNothingAndBreaksNothing) {
  const RunLog log;
  for (const Finding& f : judge(log, totals_of(log))) {
    EXPECT_FALSE(f.question.empty());
    EXPECT_FALSE(f.text.empty()) << f.key;
    EXPECT_EQ(f.verdict, Ruling::cannot_tell) << f.key << ": " << f.text;
    EXPECT_EQ(f.confidence, Confidence::none) << f.key << ": " << f.text;
  }
}

}  // namespace
}  // namespace tandem
