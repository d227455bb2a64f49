#include "observe/journal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "observe/journal_lines.h"
#include "observe/journal_slow_reader.h"

namespace tandem {
namespace {

StepRecord step(std::int64_t number, double loss) {
  StepRecord record;
  record.step = number;
  record.loss = loss;
  return record;
}

std::vector<std::int64_t> steps(const std::vector<Json>& lines) {
  std::vector<std::int64_t> found;
  for (const Json& line : lines) {
    if (line.at("type").as_string() == "step") found.push_back(line.at("step").as_int());
  }
  return found;
}

TEST(Journal, NumbersReadBackToTheSameBits) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  const double losses[] = {1.0 / 3, 5.123456789012345e-7, std::nextafter(2.0, 3.0), 1e300};
  Journal journal(path, [] { return 12.5; });
  for (const double loss : losses) journal.on_step(step(1, loss));
  const auto lines = read_journal(path);
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(lines[i].at("loss").as_double(), losses[i]);
  EXPECT_EQ(lines[0].at("time").as_double(), 12.5);
  EXPECT_EQ(lines[0].at("seconds").at("other").as_double(), 0);
}

TEST(Journal, AResumedRunSupersedesWhatCameAfterItsCheckpoint) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "journal.jsonl";
  {
    Journal journal(path, [] { return 0.0; });
    journal.on_run({});
    for (const std::int64_t number : {1, 2, 3, 4}) journal.on_step(step(number, 1));
  }
  std::ofstream(path, std::ios::app) << R"({"type":"step","st)";  // killed within a line
  Journal journal(path, [] { return 0.0; });
  journal.on_run({.resumed_from = 2, .facts = Json::object().set("device", "cpu")});
  for (const std::int64_t number : {3, 4, 5}) journal.on_step(step(number, 2));
  const auto lines = read_journal(path);
  EXPECT_EQ(steps(lines), (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(lines.back().at("loss").as_double(), 2);
  EXPECT_EQ(lines[3].at("resumed_from").as_int(), 2);
}

TEST(Journal, ASampleReadsBackFromItsLine) {
  SystemRecord record;
  record.host = "host-b";
  record.cores = 8;
  record.cpu = 1.0 / 3;
  record.process_cores = 2.5;
  record.net_out_per_s = 1e8;
  record.interface = "eth0";
  record.gpus = {{"G", 0.9, {}, 16e9, {}, 60.0}};
  const Json line = journal_line(record, 5);
  EXPECT_EQ(journal_line(system_record(line), 5).dump(), line.dump());
  EXPECT_FALSE(system_record(line).link_bits_per_s);
  EXPECT_THROW(system_record(Json::parse("{\"host\":3}", "x")), UserError);
}

struct Thrower final : Observer {
  void on_step(const StepRecord&) override { throw EnvError("no more room"); }
};
struct Listener final : Observer {
  explicit Listener(std::vector<std::string>& heard_) : heard(heard_) {}
  void on_step(const StepRecord&) override { heard.push_back("step"); }
  void on_event(const EventRecord& record) override { heard.push_back(record.text); }
  std::vector<std::string>& heard;
};

TEST(ObserverList, OneThatThrowsIsDroppedAndTheOthersHearOfIt) {
  std::vector<std::string> heard;
  ObserverList list;
  list.add("thrower", std::make_unique<Thrower>());
  list.add("listener", std::make_unique<Listener>(heard));
  list.on_step({});
  list.on_step({});
  EXPECT_EQ(heard,
            (std::vector<std::string>{"step", "thrower was switched off: no more room", "step"}));
}

// Says something about every step.
struct Speaker final : Observer {
  explicit Speaker(Observer& to_) : to(to_) {}
  void on_step(const StepRecord&) override { to.on_event({1, "verdict", "spoken"}); }
  Observer& to;
};

TEST(ObserverList, AnObserverMaySpeakAndAllHearItAfterTheRecord) {
  std::vector<std::string> heard;
  ObserverList list;
  list.add("first", std::make_unique<Listener>(heard));
  list.add("speaker", std::make_unique<Speaker>(list));
  list.add("last", std::make_unique<Listener>(heard));
  list.on_step({});
  EXPECT_EQ(heard, (std::vector<std::string>{"step", "step", "spoken", "spoken"}));
}

}  // namespace
}  // namespace tandem
