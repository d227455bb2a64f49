#include "report/run_log_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "observe/journal.h"
#include "observe/journal_slow_reader.h"
#include "observe/seconds_spread.h"
#include "report/run_totals.h"

namespace tandem {
namespace {

StepRecord step(std::int64_t number, double loss) {
  StepRecord record;
  record.step = number;
  record.loss = loss;
  record.tokens = 100;
  record.micro_batches = 3;
  record.seconds = {.total = 1.0 / 3, .forward = 0.1};
  record.bytes_out = 7;
  return record;
}

std::vector<std::int64_t> steps_of(const RunLog& log) {
  std::vector<std::int64_t> found;
  for (const StepPoint& p : log.steps) found.push_back(p.step);
  return found;
}

TEST(RunLogReader, ReadsWhatTheJournalWrites) {
  const TemporaryFolder folder;
  {
    Journal journal(folder.path() / "journal.jsonl", [] { return 12.25; });
    journal.on_run({{}, Json::object().set("device", "cpu")});
    journal.on_step(step(1, 1.0 / 7));
    journal.on_step(step(2, NAN));
    SystemRecord system;
    system.host = "a \"b\"";
    system.cpu = 0.5;
    system.gpus = {{"G", 0.9, {}, {}, {}, 60.0}};
    journal.on_system(system);
    journal.on_eval({2, 2.5, 2.25, 30.5, {}, 3, {{"s\n", "r", "h"}}});
    journal.on_checkpoint({2, 1000, 0.5, 2});
    journal.on_event({2, "warning", "x"});
    journal.on_end({2, "steps", "done", 10, 200});
  }
  const RunLog log = read_run_log(folder.path());
  ASSERT_EQ(log.steps.size(), 2u);
  EXPECT_EQ(log.steps[0].loss, 1.0 / 7);
  EXPECT_EQ(log.steps[0].seconds.total, 1.0 / 3);
  EXPECT_EQ(log.steps[0].mean.total, 1.0 / 3) << "of the only worker";
  EXPECT_EQ(log.steps[0].bytes_out, 7);
  EXPECT_EQ(log.steps[0].micro_batches, 3);
  EXPECT_TRUE(std::isnan(log.steps[1].loss));
  ASSERT_EQ(log.systems.size(), 1u);
  EXPECT_EQ(log.systems[0].record.host, "a \"b\"");
  EXPECT_EQ(log.systems[0].record.gpus[0].utilisation, 0.9);
  EXPECT_FALSE(log.systems[0].record.gpus[0].power_watts);
  EXPECT_EQ(log.evals[0].record.samples[0].source, "s\n");
  EXPECT_FALSE(log.evals[0].record.chrf);
  EXPECT_EQ(log.checkpoints[0].record.bytes, 1000);
  EXPECT_EQ(log.ends[0].record.tokens, 200);
  EXPECT_EQ(log.facts().at("device").as_string(), "cpu");
  EXPECT_TRUE(log.ended());
}

TEST(RunLogReader, AgreesWithTheSlowReaderOnAResumedRun) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  {
    Journal journal(path, [] { return 1.0; });
    journal.on_run({});
    for (std::int64_t n = 1; n <= 4; ++n) journal.on_step(step(n, 1));
  }
  std::ofstream(path, std::ios::app) << R"({"type":"step","st)";
  Journal journal(path, [] { return 2.0; });
  journal.on_run({.resumed_from = 2});
  for (std::int64_t n = 3; n <= 5; ++n) journal.on_step(step(n, 2));
  const RunLog log = read_run_log(folder.path());
  EXPECT_EQ(steps_of(log), (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  std::size_t slow = 0;
  for (const Json& line : read_journal(path)) slow += line.at("type").as_string() == "step";
  EXPECT_EQ(log.steps.size(), slow);
  EXPECT_EQ(log.steps[2].loss, 2);
  EXPECT_EQ(log.steps[1].start, 0);
  EXPECT_EQ(log.steps[2].start, 1);
}

TEST(RunLogReader, ThatARunWentBackStaysKnownWhenItGoesBackFurther) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  {
    double time = 0;
    Journal journal(path, [&] { return time += 1; });
    const auto train = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t n = from + 1; n <= to; ++n) journal.on_step(step(n, 1));
    };
    journal.on_run({});
    train(0, 10);
    for (const std::int64_t back : {8, 4}) {
      journal.on_run({.resumed_from = back});
      journal.on_event({back, "rollback", "training diverged"});
      train(back, 10);
    }
    journal.on_run({.resumed_from = 4});  // by hand
    train(4, 12);
  }
  const RunLog log = read_run_log(path);
  EXPECT_EQ(rollbacks_of(log), 2u);
  EXPECT_FALSE(is_rollback(log, 0));
  EXPECT_FALSE(is_rollback(log, 3));
  EXPECT_EQ(log.steps.size(), 12u);
  std::size_t slow = 0;
  for (const Json& line : read_journal(path)) slow += line.at("type").as_string() == "event";
  EXPECT_EQ(log.events.size(), slow);
}

TEST(RunLogReader, FollowsAGrowingJournalAndWaitsForWholeLines) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  const std::string line = R"({"type":"step","time":5,"step":7,"loss":1.5})"
                           "\n";
  std::ofstream out(path);
  out << "{\"type\":\"run\",\"time\":1}\n" << std::flush;
  RunLogReader reader(folder.path());
  for (std::size_t cut = 0; cut <= line.size(); ++cut) {
    out.seekp(24);
    out << line.substr(0, cut) << std::flush;
    reader.refresh();
    EXPECT_EQ(reader.log().steps.size(), cut == line.size() ? 1u : 0u) << cut;
  }
  EXPECT_EQ(reader.log().steps.at(0).step, 7);
  EXPECT_EQ(reader.log().last_time, 5);
  EXPECT_FALSE(reader.refresh());
}

TEST(RunLogReader, ABrokenLineIsNamed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  for (const char* bad :
       {"nonsense", "{\"type\":\"step\",\"step\":\"x\"}", "{\"type\":3}", "[]",
        "{\"type\":\"step\",\"step\":1", "{\"type\":\"eval\",\"step\":1.5}", ""}) {
    std::ofstream(path) << "{\"type\":\"run\",\"time\":1}\n" << bad << "\n";
    try {
      read_run_log(folder.path());
      FAIL() << bad;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("journal.jsonl:2"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(read_run_log(folder.path() / "absent"), UserError);
}

TEST(RunLogReader, ALineOfManyBlocksIsALine) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  const std::string text(3 << 20, 'x');
  std::ofstream out(path);
  out << R"({"type":"run","time":1})"
      << "\n"
      << R"({"type":"event","time":2,"step":1,"kind":"warning","text":")" << std::flush;
  RunLogReader reader(folder.path());
  for (std::size_t from = 0; from < text.size(); from += 700'000) {  // it comes bit by bit
    out << text.substr(from, 700'000) << std::flush;
    reader.refresh();
    EXPECT_TRUE(reader.log().events.empty());
  }
  out << "\"}\n"
      << R"({"type":"step","time":5,"step":7,"loss":1.5})" << std::endl;
  reader.refresh();
  ASSERT_EQ(reader.log().events.size(), 1u);
  EXPECT_EQ(reader.log().events[0].record.text, text);
  EXPECT_EQ(reader.log().steps.at(0).step, 7);
}

TEST(RunLogReader, ALineWithoutAnEndIsRefusedBeforeItFillsTheMemory) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  std::ofstream(path) << "{\"type\":\"run\",\"time\":1}\n";
  fs::resize_file(path, std::uintmax_t{1} << 40);  // a hole: no disk holds that much
  try {
    read_run_log(folder.path());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              path.string() + ":2: no line of a journal: it has not ended after 8 MiB");
  }
}

TEST(RunLogReader, ALongJournalCanBeReadInPart) {
  const TemporaryFolder folder;
  {
    Journal journal(folder.path() / "journal.jsonl", [] { return 1.0; });
    journal.on_run({});
    for (std::int64_t n = 1; n <= 12000; ++n) journal.on_step(step(n, 1));
    journal.on_eval({12000, 1, 1, {}, {}, 0, {}});
  }
  const RunLogReader reader(folder.path(), {.most_steps = 1000});
  const RunLog& log = reader.log();
  EXPECT_GT(log.stride, 5);
  EXPECT_LT(log.steps.size(), 5000u);
  EXPECT_EQ(log.evals.size(), 1u);
  EXPECT_EQ(log.steps.back().step, 12000);
  EXPECT_EQ(totals_of(log).tokens, 12000 * 100);  // sums count what was passed over
  EXPECT_NEAR(totals_of(log).in_steps, 4000, 1);
}

TEST(RunLogReader, AGrowingJournalDoesNotFillTheMemoryOfItsReader) {
  const TemporaryFolder folder;
  Journal journal(folder.path() / "journal.jsonl", [] { return 1.0; });
  journal.on_run({});
  RunLogReader reader(folder.path(), {.most_steps = 100});
  for (std::int64_t n = 1; n <= 12000; ++n) {
    journal.on_step(step(n, 1));
    if (n % 500 == 0) reader.refresh();
  }
  EXPECT_LT(reader.log().steps.size(), 6000u);
  EXPECT_EQ(reader.log().steps.back().step, 12000);
  EXPECT_EQ(totals_of(reader.log()).tokens, 12000 * 100);
}

TEST(RunLogReader, APartOfTheSamplesHasAllHosts) {
  const TemporaryFolder folder;
  {
    Journal journal(folder.path() / "journal.jsonl", [] { return 1.0; });
    journal.on_run({});
    for (std::int64_t n = 1; n <= 8000; ++n) {
      journal.on_step(step(n, 1));
      SystemRecord system;
      system.host = n % 2 == 0 ? "even" : "odd";
      journal.on_system(system);
    }
  }
  const RunLogReader reader(folder.path(), {.most_steps = 100});
  std::size_t even = 0, odd = 0;
  for (const auto& sample : reader.log().systems) (sample.record.host == "even" ? even : odd) += 1;
  EXPECT_LT(even + odd, 6000u);
  EXPECT_GT(even, 100u);
  EXPECT_NEAR(static_cast<double>(even), static_cast<double>(odd), 10);
}

TEST(RunLogReader, TellsWhatEveryWorkerDid) {
  const TemporaryFolder folder;
  {
    Journal journal(folder.path() / "journal.jsonl", [] { return 1.0; });
    journal.on_run({});
    StepRecord record = step(1, 1);
    const std::vector<StepSeconds> workers = {{.total = 2, .wait = 1}, {.total = 2}, {.total = 1}};
    record.ranks = spread_of(workers, std::vector<double>{30, 50, 20});
    journal.on_step(record);
  }
  const RunLog log = read_run_log(folder.path());
  EXPECT_EQ(log.steps[0].compute_max, 2);
  EXPECT_EQ(log.steps[0].compute_min, 1);
  EXPECT_EQ(log.steps[0].slowest_rank, 1);
  EXPECT_EQ(log.steps[0].seconds.wait, 0) << "rank 0's own, as the line tells";
  EXPECT_EQ(log.steps[0].mean.wait, 1.0 / 3);
  ASSERT_EQ(log.workers.size(), 3u);
  EXPECT_EQ(log.workers[0].wait, 1);
  EXPECT_EQ(log.workers[1].tokens, 50);
}

}  // namespace
}  // namespace tandem
