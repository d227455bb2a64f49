#include "cluster/network_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include "base/error.h"
#include "cluster/job_token.h"
#include "cluster/store_protocol.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::HasSubstr;

// A hub with a store on loopback, and what a worker needs to call it.
class NetworkStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    auto socket = listen_at({"127.0.0.1", 0}, problem);
    ASSERT_TRUE(socket) << problem;
    at_ = socket->at;
    options_.token = random_token().bytes;
    options_.size = 4;
    options_.handshake = 1000ms;
    options_.say = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      said_.push_back(line);
    };
    std::vector<ListeningSocket> sockets;
    sockets.push_back(std::move(*socket));
    hub_ = std::make_unique<Hub>(std::move(sockets), options_,
                                 std::map<Purpose, HubService*>{{Purpose::store, &service_}});
  }

  FileDescriptor dial(int rank = 1) {
    std::string problem;
    FileDescriptor fd =
        call(at_, options_.token, {Purpose::store, rank, 4}, steady_clock::now() + 10s, problem);
    if (fd.get() < 0) throw EnvError(problem);
    return fd;
  }

  std::unique_ptr<Store> store() {
    return network_store([this] { return dial(); });
  }

  std::string why_refused(const std::string& token, const Caller& caller) {
    std::string problem;
    call(at_, token, caller, steady_clock::now() + 5s, problem);
    return problem;
  }

  FileDescriptor stranger() {
    std::string problem;
    return connect_to(at_, steady_clock::now() + 5s, problem);
  }

  // Whether the hub closes this connection.
  static bool is_closed(const FileDescriptor& fd, std::chrono::milliseconds wait) {
    std::string bytes;
    return read_exactly(fd.get(), bytes, 1 << 20, steady_clock::now() + wait) == Transfer::closed;
  }

  std::vector<std::string> said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }

  Endpoint at_;
  HubOptions options_;
  StoreService service_;
  std::mutex mutex_;
  std::vector<std::string> said_;
  std::unique_ptr<Hub> hub_;  // last: its thread uses the rest
};

TEST_F(NetworkStoreTest, ValuesOfOneWorkerAreSeenByAnother) {
  const auto a = store(), b = store();
  const std::string bytes("\0\xff long", 7);
  a->set("key", bytes);
  EXPECT_EQ(b->get("key", 1s), bytes);
  EXPECT_TRUE(b->has("key"));
  b->erase("key");
  b->erase("key");
  EXPECT_FALSE(a->has("key"));
  a->set("empty", "");
  EXPECT_EQ(b->get("empty", 0s), "");
}

TEST_F(NetworkStoreTest, AReaderWaitsWithoutHoldingUpOthers) {
  const auto shared = store();  // by two threads
  std::jthread late([&] {
    shared->add("turn", 1);
    shared->set("address", "10.0.0.1");
  });
  EXPECT_EQ(shared->get("address", 10s), "10.0.0.1");
}

TEST_F(NetworkStoreTest, AMissingKeyIsNamed) {
  try {
    store()->get("rank-3/address", 50ms);
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no worker has set \"rank-3/address\" within 0.05 s"));
  }
}

TEST_F(NetworkStoreTest, CountersOfAllThreadsAddUp) {
  const auto shared = store();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 50; ++k) shared->add("arrived", 1);
      });
    }
  }
  EXPECT_EQ(shared->get("arrived", 0ms), "200");
  shared->set("arrived", "all");
  EXPECT_THROW(shared->add("arrived", 1), EnvError);
}

TEST_F(NetworkStoreTest, LargeValuesArriveWholeAndTooLargeOnesAreRefused) {
  const auto a = store();
  std::string large(kMostValueBytes, 'x');
  large.back() = 'y';
  a->set("large", large);
  EXPECT_EQ(store()->get("large", 5s), large);
  EXPECT_THROW(a->set("larger", large + "z"), EnvError);
  EXPECT_THROW(a->set("larger", std::string(kMostFrameBytes, 'x')), EnvError);
  EXPECT_THROW(a->set(std::string(kMostKeyBytes + 1, 'k'), ""), EnvError);
  EXPECT_THROW(a->set("", ""), EnvError);
  EXPECT_EQ(a->get("large", 0s).size(), kMostValueBytes);
}

TEST_F(NetworkStoreTest, RankZeroUsesItsOwnHubWithoutANetwork) {
  const auto own = network_store([this] { return hub_->connect_locally({Purpose::store, 0, 4}); });
  own->set("a", "1");
  EXPECT_EQ(store()->get("a", 1s), "1");
  hub_->keep_only("192.0.2.1");  // nowhere any more
  own->set("a", "2");
  EXPECT_EQ(own->get("a", 1s), "2");
}

TEST_F(NetworkStoreTest, AWrongTokenAndAnotherNumberOfWorkersAreRefused) {
  EXPECT_THAT(why_refused(random_token().bytes, {Purpose::store, 1, 4}),
              HasSubstr("another job token"));
  EXPECT_THAT(why_refused(options_.token, {Purpose::store, 1, 3}),
              HasSubstr("another number of workers"));
  EXPECT_THAT(why_refused(options_.token, {Purpose::store, 4, 4}),
              HasSubstr("another number of workers"));
  EXPECT_THAT(why_refused(options_.token, {Purpose::heartbeat, 1, 4}),
              HasSubstr("another job token"))
      << "there is no such service here";
  EXPECT_EQ(why_refused(options_.token, {Purpose::store, 1, 4}), "");
  EXPECT_THAT(said().at(0), HasSubstr("refused 1 connection that did not know the job token"));
}

TEST_F(NetworkStoreTest, ARecordedHandshakeIsWorthless) {
  // A caller's answer to one greeting, sent again on another connection.
  const FileDescriptor first = stranger(), second = stranger();
  std::string greeting_bytes;
  ASSERT_EQ(read_exactly(first.get(), greeting_bytes, kGreetingBytes, steady_clock::now() + 5s),
            Transfer::done);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor ours(ends[0]), theirs(ends[1]);
  write_all(ours.get(), greeting_bytes, steady_clock::now() + 1s);
  introduce(theirs.get(), options_.token, {Purpose::store, 1, 4}, steady_clock::now() + 200ms);
  std::string answer;
  ASSERT_EQ(read_exactly(ours.get(), answer, kAnswerBytes, steady_clock::now() + 1s),
            Transfer::done);
  write_all(second.get(), answer, steady_clock::now() + 1s);
  EXPECT_TRUE(is_closed(second, 5s));
  write_all(first.get(), answer, steady_clock::now() + 1s);
  std::string verdict;
  EXPECT_EQ(read_exactly(first.get(), verdict, kVerdictBytes, steady_clock::now() + 5s),
            Transfer::done)
      << "on its own connection the same bytes are welcome";
}

TEST_F(NetworkStoreTest, NobodyIsFooledByAHubThatDoesNotKnowTheToken) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor ours(ends[0]), theirs(ends[1]);
  write_all(ours.get(), greeting(std::string(kNonceBytes, 'n')) + std::string(kVerdictBytes, '\0'),
            steady_clock::now() + 1s);
  EXPECT_THAT(
      introduce(theirs.get(), options_.token, {Purpose::store, 1, 4}, steady_clock::now() + 1s),
      HasSubstr("does not know the job token"));
}

TEST_F(NetworkStoreTest, HostileBytesCloseTheirOwnConnectionOnly) {
  const auto good = store();
  good->set("a", "1");
  const std::string hostile[] = {
      std::string(4, '\xff'),                                       // a message of 4 GB
      framed(""),                                                   // no operation
      framed("\x09"),                                               // an unknown one
      framed(std::string("\x01\xff\xff\xff\x7f", 5)),               // a key longer than the message
      framed(WireWriter().u8(1).text("k").text("v").u8(0).take()),  // something left over
      framed(WireWriter().u8(2).text("k").take()),                  // a get without its time
      framed(std::string(1000, '\0')),
  };
  for (const std::string& bytes : hostile) {
    const FileDescriptor fd = dial();
    write_all(fd.get(), bytes, steady_clock::now() + 1s);
    EXPECT_TRUE(is_closed(fd, 5s)) << to_hex(bytes.substr(0, 20));
  }
  EXPECT_EQ(good->get("a", 1s), "1");
}

TEST_F(NetworkStoreTest, ASlowStrangerIsShownTheDoor) {
  const FileDescriptor slow = stranger(), silent = stranger();
  write_all(slow.get(), "a", steady_clock::now() + 1s);
  EXPECT_TRUE(is_closed(slow, 10s));
  EXPECT_TRUE(is_closed(silent, 10s));
}

TEST_F(NetworkStoreTest, AThousandStrangersDoNotKeepAWorkerOut) {
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 1000; ++i) {
    strangers.push_back(stranger());
    if (strangers.back().get() >= 0 && i % 2 == 0) {
      write_all(strangers.back().get(), std::string(200, static_cast<char>(i)),
                steady_clock::now() + 1s);
    }
    if (i % 100 == 99) strangers.erase(strangers.begin(), strangers.begin() + 50);
  }
  // A worker tries again, as meet() does: it may be the oldest of the strangers itself.
  std::unique_ptr<Store> worker = network_store([this] {
    std::string problem;
    for (int attempt = 0; attempt < 100; ++attempt) {
      FileDescriptor fd =
          call(at_, options_.token, {Purpose::store, 1, 4}, steady_clock::now() + 1s, problem);
      if (fd.get() >= 0) return fd;
    }
    throw EnvError(problem);
  });
  worker->set("a", "1");
  EXPECT_EQ(worker->get("a", 1s), "1");
  EXPECT_LE(said().size(), 3u) << "the log counts them instead of listing them";
}

}  // namespace
}  // namespace tandem
