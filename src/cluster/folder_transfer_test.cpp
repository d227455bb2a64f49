// A folder between two ends, both of this process, over loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "cluster/folder_receiver.h"
#include "cluster/folder_sender.h"
#include "cluster/handshake.h"
#include "cluster/job_token.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FolderTransfer : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(from_);
    atomic_write(from_ / "a.bin", std::string(700'000, 'x') + "end");
    atomic_write(from_ / "empty", "");
    atomic_write(from_ / "z.json", "{}");
    place_.target = to_;
    const auto keep = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      said_.push_back(text);
    };
    receiver_ = std::make_unique<FolderReceiver>(FolderEnd{"127.0.0.1", token_, 2, keep},
                                                 [this](const FolderOffer& offer) {
                                                   offered_ = offer;
                                                   return place_;
                                                 });
    setting_ = {.to = receiver_->at(), .token = token_, .rank = 0, .size = 2, .patience = 5s};
  }

  FolderOffer offer() const { return offer_folder(FolderKind::checkpoint, 7, from_); }
  std::string failure(const FolderOffer& offered) {
    try {
      send_folder(from_, offered, setting_);
    } catch (const EnvError& error) {
      return error.what();
    }
    return "none";
  }
  // Nothing is left beside what was there before; the connection's end is noticed a little later.
  bool only_the_source_is_there() const {
    for (int i = 0; i < 100; ++i) {
      const auto count = std::distance(fs::directory_iterator(root_.path()), {});
      if (count == 1) return true;
      std::this_thread::sleep_for(20ms);
    }
    return false;
  }

  std::vector<std::string> said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }

  const TemporaryFolder root_;
  const fs::path from_ = root_.path() / "from", to_ = root_.path() / "to";
  const std::string token_ = random_token().bytes;
  FolderPlace place_;
  FolderOffer offered_;
  SendSetting setting_;
  std::mutex mutex_;
  std::vector<std::string> said_;  // of strangers
  std::unique_ptr<FolderReceiver> receiver_;
};

TEST_F(FolderTransfer, WhoHoldsTheOrderDecidesBeforeTheFolderHasItsName) {
  std::mutex order;
  place_.order = &order;
  bool wanted = true;
  place_.problem = [&](const fs::path&) { return wanted ? "" : "it is not wanted any more"; };
  std::unique_lock lock(order);
  std::string said;
  std::thread sender([&] { said = failure(offer()); });
  std::this_thread::sleep_for(200ms);  // all bytes are there long ago
  EXPECT_FALSE(fs::exists(to_));
  wanted = false;
  lock.unlock();
  sender.join();
  EXPECT_THAT(said, HasSubstr("it is not wanted any more"));
  EXPECT_FALSE(fs::exists(to_));
  EXPECT_TRUE(only_the_source_is_there());
}

TEST_F(FolderTransfer, ArrivesWholeAndReplacesWhatWasThere) {
  fs::create_directory(to_);
  atomic_write(to_ / "old", "old");
  bool kept = false;
  place_.kept = [&] { kept = true; };
  std::uint64_t bytes = 0;
  setting_.progress = [&](std::uint64_t sent) { bytes = sent; };
  EXPECT_EQ(send_folder(from_, offer(), setting_), Sent::all);
  EXPECT_EQ(offered_, offer());
  EXPECT_EQ(offer_folder(FolderKind::checkpoint, 7, to_), offer());
  EXPECT_EQ(bytes, 700'005);
  EXPECT_TRUE(kept);
}

TEST_F(FolderTransfer, NothingIsSentThatIsThere) {
  place_.have = true;
  EXPECT_EQ(send_folder(from_, offer(), setting_), Sent::had_it);
  EXPECT_TRUE(only_the_source_is_there());
}

TEST_F(FolderTransfer, ARefusalComesWithItsReason) {
  place_.refusal = "no checkpoint is wanted here";
  EXPECT_EQ(failure(offer()), "no checkpoint is wanted here");
  EXPECT_TRUE(only_the_source_is_there());
}

TEST_F(FolderTransfer, WhatTheReceiverFindsWrongDoesNotAppear) {
  place_.problem = [](const fs::path& folder) { return "odd: " + read_file(folder / "z.json"); };
  EXPECT_EQ(failure(offer()), "odd: {}");
  EXPECT_TRUE(only_the_source_is_there());
}

TEST_F(FolderTransfer, BytesThatChangeOnTheWayAreNoticed) {
  FolderOffer wrong = offer();
  wrong.files.front().hash ^= 1;
  EXPECT_EQ(failure(wrong), "a.bin did not arrive whole");
  wrong = offer();
  wrong.files.front().bytes -= 1;
  EXPECT_EQ(failure(wrong), "a.bin is longer than it was said to be");
  wrong = offer();
  wrong.files.front().bytes += 1;
  EXPECT_EQ(failure(wrong), "a.bin did not arrive whole");
  wrong = offer();
  wrong.files.front().bytes = std::uint64_t{1} << 49;
  EXPECT_THAT(failure(wrong), HasSubstr("are free; make room"));
  EXPECT_TRUE(only_the_source_is_there());
}

TEST_F(FolderTransfer, AStoppedTransferLeavesNothing) {
  std::stop_source stop;
  setting_.stop = stop.get_token();
  setting_.progress = [&](std::uint64_t) { stop.request_stop(); };
  EXPECT_EQ(send_folder(from_, offer(), setting_), Sent::stopped);
  EXPECT_TRUE(only_the_source_is_there());
}

TEST_F(FolderTransfer, AFileThatCannotBeReadIsNotOffered) {
  fs::remove(from_ / "a.bin");
  fs::create_symlink("/proc/self/mem", from_ / "a.bin");  // its first block gives EIO
  EXPECT_THROW(offer(), EnvError);
}

TEST_F(FolderTransfer, StrangersAreNotHeardButToldOf) {
  setting_.token = random_token().bytes;
  EXPECT_THAT(failure(offer()), HasSubstr("another job token"));
  EXPECT_TRUE(offered_.files.empty());
  // Its connection was closed, and that after it was told of.
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("port for files: refused 1 connection"),
                                        HasSubstr("from 127.0.0.1"))));
}

TEST_F(FolderTransfer, NothingIsSaidOfWorkers) {
  EXPECT_EQ(send_folder(from_, offer(), setting_), Sent::all);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(FolderTransfer, ThePathStaysInsideTheFolder) {
  for (const char* name : {"../x", "/etc/x", "a/b", "..", ".hidden", "", "a\nb", "a b"}) {
    EXPECT_FALSE(is_sendable_name(name)) << name;
    FolderOffer hostile = offer();
    hostile.files.front().name = name;
    EXPECT_FALSE(offer_from(to_message(hostile))) << name;
  }
  FolderOffer twice = offer();
  twice.files.push_back(twice.files.front());
  EXPECT_FALSE(offer_from(to_message(twice)));
}

TEST_F(FolderTransfer, HalfAnOfferIsNone) {
  const std::string whole = to_message(offer());
  EXPECT_EQ(offer_from(whole), offer());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(offer_from(whole.substr(0, size)));
  }
  EXPECT_FALSE(offer_from(whole + "x"));
}

TEST_F(FolderTransfer, NonsenseIsRefusedInWords) {
  std::string problem, message;
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  const FileDescriptor fd =
      call(receiver_->at(), token_, {Purpose::files, 1, 2}, deadline, problem);
  ASSERT_GE(fd.get(), 0) << problem;
  ASSERT_EQ(write_all(fd.get(), framed("nonsense"), deadline), Transfer::done);
  ASSERT_EQ(read_frame(fd.get(), message, deadline), Transfer::done);
  EXPECT_THAT(message, HasSubstr("an offer without sense"));
}

}  // namespace
}  // namespace tandem
