// Workers as threads over loopback: they must agree, and the first one must know everything.
#include "cluster/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Trial {
  int hosts = 2, workers_per_host = 2, missing = 0;  // so many of the last host
  PreflightSetting setting;
  std::function<void(HostFacts&, int host)> change = [](HostFacts&, int) {};
  std::function<void(HostFacts&, int rank)> change_one = [](HostFacts&, int) {};
  bool with_exchange = false;
  std::atomic<int> exchanges = 0;

  Trial() {
    for (int i = 0; i < 50; ++i) setting.facts.pieces.push_back({1e5, i / 49.0});
    setting.facts.tokens = 4000;
    setting.steps_to_end = 1000;
    setting.price_per_host_hour = 2;
    setting.currency = "EUR";
    setting.link_seconds = 0.3;
  }

  World world(int rank) const {
    World w;
    w.rank = rank;
    for (int i = 0; i < hosts * workers_per_host - missing; ++i) {
      const int host = i / workers_per_host;
      w.workers.push_back({format("host-{}", static_cast<char>('a' + host)), "127.0.0.1", 100 + i,
                           host, i % workers_per_host});
    }
    return w;
  }

  HostFacts facts(const World& w) const {
    HostFacts f;
    f.host = w.self().host;
    f.version = "1";
    f.settings = Json::object().set("seed", 1);
    f.dataset = "d";
    f.memory_free_bytes = f.disk_free_bytes = 1e12;
    change(f, w.self().host_index);
    change_one(f, w.rank);
    return f;
  }

  // The slowest is rank 1.
  PreflightWork work(int rank) {
    PreflightWork w;
    w.compute = [rank] { return compute_of(rank == 1 ? 0.2 : 0.1); };
    if (with_exchange) {
      w.exchange = [this](double values) {
        ++exchanges;
        return 0.001 + values * 1e-6;
      };
    }
    return w;
  }

  std::vector<PreflightReport> run() {
    const auto store = memory_store();
    std::vector<std::future<PreflightReport>> ranks;
    for (int rank = 0; rank < hosts * workers_per_host - missing; ++rank) {
      ranks.push_back(std::async(std::launch::async, [this, rank, &store] {
        const World w = world(rank);
        return preflight(w, *store, facts(w), setting, work(rank));
      }));
    }
    std::vector<PreflightReport> reports;
    for (auto& rank : ranks) reports.push_back(rank.get());
    return reports;
  }
};

TEST(Preflight, TheFirstWorkerKnowsHostsLinksComputeAndTheEnd) {
  Trial trial;
  const auto reports = trial.run();
  const PreflightReport& report = reports.front();
  EXPECT_EQ(report.hosts.size(), 2u);
  EXPECT_EQ(report.links.size(), 1u);
  EXPECT_EQ(report.compute.total(), 0.2);
  EXPECT_THAT(report.slowest_worker, HasSubstr("host-a rank 1"));
  EXPECT_GE(report.forecast.step_seconds, 0.2);
  EXPECT_NEAR(*report.seconds_to_end, 1000 * report.forecast.step_seconds, 1e-6);
  EXPECT_NEAR(*report.cost, *report.seconds_to_end / 3600 * 4, 1e-9);
  const std::string text = preflight_text(report);
  for (const char* part : {"host-a", "host-b", "link ", "compute ", "forecast ", "EUR"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_NO_THROW(Json::parse(preflight_json(report).dump(), "report"));
  for (const PreflightReport& each : reports) {
    EXPECT_EQ(each.forecast.scheme, report.forecast.scheme);
    EXPECT_NO_THROW(refuse_if_told(each));
  }
}

TEST(Preflight, WorkersThatShareCoresAreAsSlowAsTheirMeanSpeed) {
  Trial trial;
  trial.setting.workers_share_cores = true;
  const PreflightReport report = trial.run().front();
  // Two workers of host-a: 0.1 s and 0.2 s.
  EXPECT_NEAR(report.compute.total(), 2 / (1 / 0.1 + 1 / 0.2), 1e-9);
  EXPECT_THAT(report.slowest_worker, HasSubstr("host-a rank 1"));
}

TEST(Preflight, OneHostNeedsNoNetwork) {
  Trial trial;
  trial.hosts = 1;
  trial.workers_per_host = 1;
  const PreflightReport report = trial.run().front();
  EXPECT_TRUE(report.links.empty());
  EXPECT_NEAR(report.forecast.step_seconds, 0.1, 1e-9);
  EXPECT_EQ(report.forecast.scheme, Scheme::one_host);
  EXPECT_THAT(preflight_text(report), Not(HasSubstr("times one host")));
}

TEST(Preflight, OnlySeveralHostsAreToldWhatWasChosenFromTheirLinks) {
  Trial trial;
  trial.setting.schemes = {Scheme::exact_bf16, Scheme::int8};
  const std::string several = preflight_text(trial.run().front());
  EXPECT_THAT(several, HasSubstr("chosen from the links"));
  EXPECT_THAT(several, HasSubstr("; others: "));
  trial.hosts = 1;
  const std::string one = preflight_text(trial.run().front());
  EXPECT_THAT(one, Not(HasSubstr("mode ")));
  EXPECT_THAT(one, Not(HasSubstr("links")));
  EXPECT_THAT(one, HasSubstr("forecast "));
}

TEST(Preflight, WhereThereWereNoOthersNoneAreTold) {
  Trial trial;
  trial.setting.schemes = {Scheme::exact_bf16, Scheme::int8};
  PreflightReport report = trial.run().front();
  report.alternatives = {report.forecast};
  EXPECT_THAT(preflight_text(report), HasSubstr("chosen from the links"));
  EXPECT_THAT(preflight_text(report), Not(HasSubstr("others")));
}

TEST(Preflight, ADifferingHostIsRefusedByNameOnAllWorkers) {
  Trial trial;
  trial.change = [](HostFacts& f, int host) {
    if (host == 1) f.settings.set("seed", 2);
  };
  for (const PreflightReport& report : trial.run()) {
    try {
      refuse_if_told(report);
      FAIL();
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("host-b has other settings than host-a: seed"));
    }
  }
}

TEST(Preflight, AWorkerThatDiffersFromItsHostsFirstIsNamedAndNothingIsMeasured) {
  Trial trial;
  trial.setting.dataset_is_sent = true;
  for (const bool other_dataset : {false, true}) {
    trial.change_one = [&](HostFacts& f, int rank) {
      if (rank != 3) return;
      if (other_dataset) {
        f.dataset = "e";
      } else {
        f.settings.set("seed", 2);
      }
    };
    const PreflightReport report = trial.run().front();
    ASSERT_TRUE(report.refusal.has_value());
    EXPECT_THAT(report.refusal->text, HasSubstr("host-b rank 3 (pid 103) has "));
    EXPECT_EQ(report.hosts.size(), 2u);
    const Json json = preflight_json(report);
    for (const char* key :
         {"forecast", "compute", "software", "step_without_links_s", "exchange"}) {
      EXPECT_TRUE(json.at(key).is_null()) << key;
    }
    EXPECT_EQ(json.at("refused").as_string(), report.refusal->text);
  }
}

TEST(Preflight, TheLastHostsFewWorkersAddLittle) {
  Trial trial;
  trial.workers_per_host = 3;
  trial.missing = 2;
  trial.setting.facts.batch_is_global = false;
  trial.setting.require = 1.35;
  const PreflightReport report = trial.run().front();
  EXPECT_EQ(report.shape.workers(), 4);
  EXPECT_EQ(report.shape.workers_per_host, 3);
  EXPECT_LE(report.forecast.speed_up, 1.34);
  EXPECT_TRUE(report.refusal.has_value());
}

TEST(Preflight, ASpeedUpBelowTheRequiredOneIsRefusedOnAllWorkers) {
  Trial trial;
  trial.setting.require = 2.5;  // two hosts cannot
  for (const PreflightReport& report : trial.run()) {
    try {
      refuse_if_told(report);
      FAIL();
    } catch (const EnvError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cluster.require asks for 2.50"));
    }
  }
}

TEST(Preflight, TheRealExchangeDecidesWhenItIsThere) {
  Trial trial;
  trial.with_exchange = true;
  const PreflightReport report = trial.run().front();
  ASSERT_TRUE(report.exchange.has_value());
  EXPECT_NEAR(report.exchange->latency_seconds, 0.001, 1e-6);
  EXPECT_NEAR(report.exchange->per_value_seconds, 1e-6, 1e-9);
  EXPECT_GT(report.forecast.step_seconds, 5.0);  // five million values at a microsecond each
  EXPECT_EQ(trial.exchanges % 4, 0);             // all four workers took part in each
  EXPECT_THAT(report.warnings, Contains(HasSubstr("use one host")));
}

TEST(Preflight, AWorkerThatDoesNotAnswerIsNamed) {
  Trial trial;
  trial.setting.limit_seconds = 0.05;
  const auto store = memory_store();
  const World alone = trial.world(0);
  try {
    preflight(alone, *store, trial.facts(alone), trial.setting, trial.work(0));
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_THAT(error.what(), HasSubstr("host-a rank 1 (pid 101)"));
  }
}

TEST(PreflightSetting, LeavesRoomBelowThreeSeconds) {
  const PreflightSetting usual;
  EXPECT_LE(usual.link_seconds + usual.compute_seconds + 2 * usual.exchange_seconds, 3);
}

}  // namespace
}  // namespace tandem
