#include "cluster/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "cluster/handshake.h"
#include "cluster/job_token.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

int free_port() {
  std::string problem;
  return listen_at({"127.0.0.1", 0}, problem)->at.port;
}

struct Said {
  std::mutex mutex;
  std::vector<std::string> lines;
  void add(const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  }
  std::string text() {
    const std::lock_guard lock(mutex);
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
};

// Ranks as threads. host_of tells them apart by a made-up host; all talk over loopback.
class RendezvousTest : public testing::Test {
 protected:
  MeetingOptions options(int rank, int size, const std::string& host = "host-a") {
    MeetingOptions result;
    result.launch.by = Launcher::by_hand;
    result.launch.rank = rank;
    result.launch.size = size;
    result.launch.meeting = "127.0.0.1";
    result.launch.port = port_;
    result.launch.secret = "a secret of the team";
    result.host = {host, host};
    result.interfaces = {{"lo", "127.0.0.1", true, true, 0},
                         {"eth0", host == "host-a" ? "127.0.0.2" : "127.0.0.3", true, false, 0}};
    result.join_timeout = 10s;
    result.limits.timeout = 2s;
    result.limits.period = 100ms;
    result.news = 100ms;
    result.say = [this](const std::string& line) { said_.add(line); };
    result.on_lost = [this](const std::string& cause) { lost_.add(cause); };
    return result;
  }

  static std::future<std::unique_ptr<Meeting>> begin(MeetingOptions options) {
    return std::async(std::launch::async, [options = std::move(options)] { return meet(options); });
  }

  std::vector<std::unique_ptr<Meeting>> all_meet(const std::vector<MeetingOptions>& all) {
    std::vector<std::future<std::unique_ptr<Meeting>>> futures;
    for (const auto& one : all) futures.push_back(begin(one));
    std::vector<std::unique_ptr<Meeting>> meetings;
    for (auto& future : futures) meetings.push_back(future.get());
    return meetings;
  }

  // Rank 0 waits for the goodbyes of the others, so it goes last.
  static void all_finish(std::vector<std::unique_ptr<Meeting>>& meetings) {
    for (auto at = meetings.rbegin(); at != meetings.rend(); ++at) (*at)->heartbeat().finish();
    for (auto at = meetings.rbegin(); at != meetings.rend(); ++at) at->reset();
  }

  template <class Exception>
  static std::string error_of(std::future<std::unique_ptr<Meeting>> future) {
    try {
      future.get();
    } catch (const Exception& error) {
      return error.what();
    }
    return "met";
  }

  // Now or, as the hub hears of it by another thread, a little later.
  static bool is_closed(const Endpoint& endpoint) {
    for (int i = 0; i < 100; ++i) {
      std::string problem;
      const auto deadline = std::chrono::steady_clock::now() + 10s;
      if (connect_to(endpoint, deadline, problem).get() < 0) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  int port_ = free_port();
  Said said_, lost_;
};

TEST_F(RendezvousTest, AllWorkersOfOneHostSeeTheSameWorld) {
  auto meetings = all_meet({options(2, 3), options(0, 3), options(1, 3)});
  for (const auto& meeting : meetings) {
    EXPECT_EQ(meeting->world().size(), 3);
    EXPECT_EQ(meeting->world().hosts(), 1);
    EXPECT_EQ(meeting->world().self().local_rank, meeting->world().rank);
    EXPECT_EQ(meeting->world().self().address, "127.0.0.1");
    EXPECT_EQ(meeting->interface(), "lo");
  }
  meetings[0]->store().set("x", "from 2");
  EXPECT_EQ(meetings[2]->store().get("x", 1s), "from 2");
  std::swap(meetings[0], meetings[1]);  // rank 0 to the front
  all_finish(meetings);
  EXPECT_EQ(lost_.text(), "");
}

TEST_F(RendezvousTest, HostsFindAnAddressThatTheyReach) {
  auto meetings = all_meet({options(0, 3), options(1, 3, "host-b"), options(2, 3)});
  const World& world = meetings[1]->world();
  EXPECT_EQ(world.hosts(), 2);
  EXPECT_EQ(world.workers[0].address, "127.0.0.2");
  EXPECT_EQ(world.workers[1].address, "127.0.0.3");
  EXPECT_EQ(world.workers[2].address, "127.0.0.2");
  EXPECT_EQ(world.workers[2].local_rank, 1);
  EXPECT_EQ(meetings[1]->interface(), "eth0");
  EXPECT_THAT(meetings[1]->reason(), HasSubstr("all 2 hosts reach each other"));
  all_finish(meetings);
}

TEST_F(RendezvousTest, WhereNobodyCameInNobodyListensAnyMore) {
  const Endpoint eth0{"127.0.0.2", port_};  // of rank 0's host
  for (const char* host : {"host-a", "host-b"}) {
    std::vector<MeetingOptions> all{options(0, 2), options(1, 2, host)};
    // Loopback by name: rank 0 cannot know which of its addresses that is to others.
    for (MeetingOptions& one : all) one.launch.meeting = "localhost";
    auto meetings = all_meet(all);
    EXPECT_TRUE(is_closed(eth0)) << "the other worker is on " << host;
    EXPECT_FALSE(is_closed({resolve("localhost").front(), port_})) << "where it came in";
    all_finish(meetings);
  }
}

TEST_F(RendezvousTest, EveryWorkerCanTellOfStrangers) {
  Said refused[2];
  std::vector<MeetingOptions> all{options(0, 2), options(1, 2, "host-b")};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    all[rank].on_refused = [&, rank](const std::string& text) { refused[rank].add(text); };
  }
  auto meetings = all_meet(all);
  for (const auto& meeting : meetings) meeting->on_refused()("a stranger");
  all_finish(meetings);
  EXPECT_EQ(refused[0].text(), "a stranger\n");
  EXPECT_EQ(refused[1].text(), "a stranger\n");
}

TEST_F(RendezvousTest, AMissingRankIsAnnouncedAndThenNamedToAll) {
  MeetingOptions first = options(0, 3), second = options(1, 3);
  first.join_timeout = 700ms;
  second.join_timeout = 700ms;
  auto zero = begin(first), one = begin(second);
  EXPECT_THAT(error_of<EnvError>(std::move(one)), HasSubstr("rank 2 did not join"));
  EXPECT_THAT(error_of<EnvError>(std::move(zero)),
              HasSubstr("1 of 3 workers: rank 2 did not join"));
  EXPECT_THAT(said_.text(), HasSubstr("waiting for 1 of 3 workers: rank 2"));
}

TEST_F(RendezvousTest, WithoutRankZeroTheOthersSayWhomTheyWaitFor) {
  MeetingOptions one = options(1, 2);
  one.join_timeout = 500ms;
  EXPECT_THAT(error_of<EnvError>(begin(one)), HasSubstr("did not reach rank 0"));
  EXPECT_THAT(said_.text(), HasSubstr("waits for rank 0 at 127.0.0.1"));
}

TEST_F(RendezvousTest, AProblemOfOneHostEndsAllWithItsSentence) {
  MeetingOptions one = options(1, 2, "host-b");
  one.rule = interface_rule("eth7", {});
  auto zero = begin(options(0, 2)), other = begin(one);
  EXPECT_THAT(error_of<UserError>(std::move(zero)),
              HasSubstr("cluster.interface=eth7 fits no interface of host-b"));
  EXPECT_THAT(error_of<UserError>(std::move(other)), HasSubstr("eth0 (127.0.0.3)"));
}

TEST_F(RendezvousTest, TwoWorkersOfOneRankAreRefusedByName) {
  MeetingOptions zero = options(0, 3);
  zero.join_timeout = 3s;
  auto first = begin(zero), second = begin(options(1, 3));
  while (said_.text().find("waiting for 1 of 3") == std::string::npos)
    std::this_thread::sleep_for(10ms);
  EXPECT_THAT(error_of<UserError>(begin(options(1, 3))),
              HasSubstr("two workers call themselves rank 1"));
  auto third = begin(options(2, 3));
  std::vector<std::unique_ptr<Meeting>> meetings;
  meetings.push_back(first.get());
  meetings.push_back(second.get());
  meetings.push_back(third.get());
  std::this_thread::sleep_for(3s);  // longer than somebody may be silent
  EXPECT_EQ(lost_.text(), "") << "who was refused has not taken the first one's place";
  all_finish(meetings);
}

TEST_F(RendezvousTest, AnotherSecretDoesNotMeet) {
  MeetingOptions zero = options(0, 2), one = options(1, 2);
  zero.join_timeout = 10s;
  one.launch.secret = "a secret of others";
  auto first = begin(zero), second = begin(one);
  EXPECT_THAT(error_of<UserError>(std::move(second)), HasSubstr("another job token"));
  EXPECT_THAT(error_of<EnvError>(std::move(first)), HasSubstr("rank 1 did not join"));
  EXPECT_THAT(said_.text(), HasSubstr("did not know the job token"));
}

TEST_F(RendezvousTest, WithoutASecretOneHostMeetsOnLoopbackWhateverTheAddress) {
  std::string problem;
  // Held, so that whoever listens or calls at the address given would fail.
  const auto held = listen_at({"127.0.0.2", port_}, problem);
  std::vector<MeetingOptions> all{options(0, 2), options(1, 2)};
  for (MeetingOptions& one : all) {
    one.launch.secret.clear();
    one.launch.local_size = 2;
    one.launch.meeting = "127.0.0.2";  // eth0 of host-a
  }
  auto meetings = all_meet(all);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  EXPECT_GE(connect_to({"127.0.0.1", port_}, deadline, problem).get(), 0) << problem;
  for (const Worker& worker : meetings[1]->world().workers) EXPECT_EQ(worker.address, "127.0.0.1");
  EXPECT_EQ(meetings[1]->interface(), "lo");
  all_finish(meetings);
}

TEST_F(RendezvousTest, WithoutASecretSeveralHostsAreRefused) {
  MeetingOptions zero = options(0, 2), one = options(1, 2, "host-b");
  zero.launch.secret.clear();
  one.launch.secret.clear();
  // Containers that share a network: on loopback, each by its own account on one host.
  auto first = begin(zero), second = begin(one);
  EXPECT_THAT(error_of<UserError>(std::move(first)), HasSubstr("no TANDEM_TOKEN"));
  EXPECT_THAT(error_of<UserError>(std::move(second)), HasSubstr("no TANDEM_TOKEN"));
}

TEST_F(RendezvousTest, WithoutASecretASocketBeyondLoopbackIsRefused) {
  const auto interfaces = list_interfaces();
  const auto other = std::ranges::find_if(interfaces, [](const auto& i) { return !i.loopback; });
  if (other == interfaces.end()) GTEST_SKIP() << "needs an address besides loopback";
  std::string problem;
  auto socket = listen_at({other->address, 0}, problem);
  ASSERT_TRUE(socket) << problem;
  MeetingOptions zero = options(0, 2);
  zero.launch.by = Launcher::local;
  zero.launch.local_size = 2;
  zero.launch.secret.clear();
  zero.launch.listen_fd = socket->fd.release();
  EXPECT_THAT(error_of<UserError>(begin(zero)), HasSubstr("no TANDEM_TOKEN"));
}

TEST_F(RendezvousTest, APortThatIsTakenIsNamed) {
  std::string problem;
  const auto taken = listen_at({"127.0.0.1", port_}, problem);
  const std::string error = error_of<EnvError>(begin(options(0, 2)));
  EXPECT_THAT(error, HasSubstr(std::to_string(port_)));
  EXPECT_THAT(error, HasSubstr("choose another MASTER_PORT"));
}

TEST_F(RendezvousTest, AMasterAddressOfAnotherHostIsTheUsersMistake) {
  MeetingOptions zero = options(0, 2);
  zero.launch.meeting = "192.0.2.9";
  EXPECT_THAT(error_of<UserError>(begin(zero)),
              HasSubstr("MASTER_ADDR=192.0.2.9 is no address of host-a"));
}

TEST_F(RendezvousTest, ASharedPortThatIsTakenIsPassedOver) {
  std::string problem;
  const auto taken = listen_at({"127.0.0.1", port_}, problem);  // says nothing to callers
  MeetingOptions zero = options(0, 2), one = options(1, 2);
  zero.launch.port_shared = one.launch.port_shared = true;
  auto meetings = all_meet({zero, one});
  all_finish(meetings);
}

TEST_F(RendezvousTest, AWorkerThatEndsWithoutGoodbyeIsNamedToAll) {
  auto meetings = all_meet({options(0, 3), options(1, 3), options(2, 3)});
  meetings[2]->heartbeat().at(120, "exchange");
  std::this_thread::sleep_for(1200ms);  // a beat at least, however busy the machine is
  meetings[2].reset();
  EXPECT_THAT(meetings[1]->heartbeat().explain("a collective failed"), HasSubstr("host-a rank 2"));
  EXPECT_THAT(meetings[0]->heartbeat().explain("a collective failed"),
              HasSubstr("died in phase exchange at step 120"));
}

TEST_F(RendezvousTest, AFailureIsToldToAllInItsOwnWords) {
  auto meetings = all_meet({options(0, 3), options(1, 3), options(2, 3)});
  meetings[1]->heartbeat().fail("host-a has another dataset");
  for (const int rank : {0, 2}) {
    EXPECT_EQ(meetings[static_cast<std::size_t>(rank)]->heartbeat().explain("?"),
              "host-a has another dataset");
  }
  for (auto at = meetings.rbegin(); at != meetings.rend(); ++at) at->reset();
  EXPECT_EQ(lost_.text(), "host-a has another dataset\nhost-a has another dataset\n");
}

TEST_F(RendezvousTest, AWorkerThatWantsToStopIsHeardByAll) {
  auto meetings = all_meet({options(0, 3), options(1, 3), options(2, 3)});
  for (const auto& meeting : meetings) EXPECT_FALSE(meeting->heartbeat().stop_wanted());
  meetings[2]->heartbeat().want_stop();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  for (const auto& meeting : meetings) {
    while (!meeting->heartbeat().stop_wanted() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_TRUE(meeting->heartbeat().stop_wanted());
  }
  all_finish(meetings);
}

// What strangers at the door of rank 0 do to a worker: it is let in and then turned away, as a
// stranger that is the oldest one.
TEST_F(RendezvousTest, AWorkerThatIsTurnedAwayCallsAgain) {
  const MeetingOptions one = options(1, 2);
  const std::string token = token_of(one.launch).bytes;
  std::string problem;
  auto door = listen_at({"127.0.0.1", port_}, problem);
  ASSERT_TRUE(door) << problem;
  auto second = begin(one);
  for (int calls = 0; calls < 4; ++calls) {
    pollfd waiting{door->fd.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 10'000), 1) << "it does not call again";
    const FileDescriptor fd(::accept4(door->fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (calls > 0) continue;
    const std::string nonce(kNonceBytes, 'n');
    const auto soon = std::chrono::steady_clock::now() + 10s;
    std::string bytes;
    write_all(fd.get(), greeting(nonce), soon);
    ASSERT_EQ(read_exactly(fd.get(), bytes, kAnswerBytes, soon), Transfer::done);
    const auto answer = read_answer(token, nonce, bytes);
    ASSERT_TRUE(answer);
    write_all(fd.get(), verdict_message(token, nonce, *answer, Verdict::welcome), soon);
  }
  door.reset();
  std::vector<std::unique_ptr<Meeting>> meetings;
  meetings.push_back(begin(options(0, 2)).get());
  meetings.push_back(second.get());
  EXPECT_EQ(meetings[1]->world().size(), 2);
  all_finish(meetings);
}

TEST_F(RendezvousTest, AStopWhileWaitingIsObeyed) {
  std::atomic<bool> stop{false};
  MeetingOptions zero = options(0, 2);
  zero.stop = &stop;
  auto future = begin(zero);
  stop = true;
  EXPECT_THAT(error_of<Interrupted>(std::move(future)), HasSubstr("stopped"));
}

}  // namespace
}  // namespace tandem
