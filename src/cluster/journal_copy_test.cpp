#include "cluster/journal_copy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/temporary_folder.h"
#include "cluster/job_token.h"
#include "cluster/journal_home.h"
#include "cluster/journal_protocol.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

template <class Condition>
bool soon(Condition holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

// Rank 0 with its journal in home/, and hosts that keep copies in folders of their own.
class JournalCopies : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(home_.parent_path());
    fs::create_directories(copy_.parent_path());
    HubOptions options;
    options.token = random_token().bytes;
    options.size = 3;
    hub_ = std::make_unique<Hub>(std::vector<ListeningSocket>{}, options,
                                 std::map<Purpose, HubService*>{{Purpose::journal, &service_}});
  }

  static void add(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::app) << text;
  }
  std::unique_ptr<JournalCopy> keep(const fs::path& file, int rank = 1) {
    return std::make_unique<JournalCopy>(hub_->connect_locally({Purpose::journal, rank, 3}), file);
  }
  static std::string lines(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i)
      text += "{\"type\":\"step\",\"step\":" + std::to_string(i) + "}\n";
    return text;
  }

  TemporaryFolder folder_;
  fs::path home_ = folder_.path() / "home" / "journal.jsonl";
  fs::path copy_ = folder_.path() / "host" / "journal.jsonl";
  JournalHome service_;
  std::unique_ptr<Hub> hub_;
};

TEST_F(JournalCopies, GrowWithTheJournalAndAreWholeAtItsEnd) {
  const auto early = keep(copy_);
  add(home_, lines(0, 10));
  service_.open(home_);
  EXPECT_TRUE(soon([&] { return fs::exists(copy_) && read_file(copy_) == lines(0, 10); }));
  add(home_, lines(10, 20) + "{\"half");  // what is not a whole line yet stays at home
  EXPECT_TRUE(soon([&] { return read_file(copy_) == lines(0, 20); }));
  add(home_, "\":1}\n" + lines(21, 20000));  // more than goes at a time
  const fs::path late_file = copy_.parent_path() / "late.jsonl";
  const auto late = keep(late_file, 2);
  service_.complete();
  EXPECT_TRUE(early->wait_for_end(20s));
  EXPECT_TRUE(late->wait_for_end(20s));
  EXPECT_EQ(read_file(copy_), read_file(home_));
  EXPECT_EQ(read_file(late_file), read_file(home_));
  EXPECT_TRUE(early->kept());
}

TEST_F(JournalCopies, ALineLongerThanWhatGoesAtATimeArrives) {
  add(home_, "\"" + std::string(1 << 20, 'x') + "\"\n" + lines(0, 3));
  service_.open(home_);
  const auto copy = keep(copy_);
  service_.complete();
  EXPECT_TRUE(copy->wait_for_end(20s));
  EXPECT_EQ(read_file(copy_), read_file(home_));
}

TEST_F(JournalCopies, GoOnAfterAResumeAndSetAsideWhatIsNotTheirs) {
  add(home_, lines(0, 100));
  add(copy_, lines(0, 60) + "{\"half a li");
  const fs::path other = copy_.parent_path() / "x.jsonl";
  add(other, lines(500, 510));
  service_.open(home_);
  const auto resumed = keep(copy_), stranger = keep(other, 2);
  service_.complete();
  EXPECT_TRUE(resumed->wait_for_end(20s));
  EXPECT_TRUE(stranger->wait_for_end(20s));
  EXPECT_EQ(read_file(copy_), lines(0, 100));
  EXPECT_FALSE(fs::exists(copy_.parent_path() / "journal-other-1.jsonl"));
  EXPECT_EQ(read_file(other), lines(0, 100));
  EXPECT_EQ(read_file(copy_.parent_path() / "x-other-1.jsonl"), lines(500, 510));
}

TEST_F(JournalCopies, ASharedDiskIsLeftAlone) {
  add(home_, lines(0, 10));
  service_.open(home_);
  const auto copy = keep(home_);
  add(home_, lines(10, 20));
  EXPECT_FALSE(copy->wait_for_end(10s));
  EXPECT_FALSE(copy->kept());
  EXPECT_EQ(read_file(home_), lines(0, 20));
}

TEST_F(JournalCopies, RecordsOfOtherHostsArriveAtHome) {
  add(home_, lines(0, 1));
  service_.open(home_);
  const auto one = keep(copy_), two = keep(copy_.parent_path() / "two.jsonl", 2);
  one->send_record("from one");
  two->send_record("from two");
  std::vector<std::string> all;
  EXPECT_TRUE(soon([&] {
    for (std::string& record : service_.take_records()) all.push_back(std::move(record));
    return all.size() == 2;
  }));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::string>{"from one", "from two"}));
}

TEST_F(JournalCopies, WhatHasComeStaysWhenHomeIsGone) {
  add(home_, lines(0, 10));
  service_.open(home_);
  const auto copy = keep(copy_);
  EXPECT_TRUE(soon([&] { return fs::exists(copy_) && read_file(copy_) == lines(0, 10); }));
  hub_.reset();
  EXPECT_FALSE(copy->wait_for_end(20s));
  EXPECT_EQ(read_file(copy_), lines(0, 10));
}

}  // namespace
}  // namespace tandem
