// Over loopback, both ends in one process: what is checked is the conversation, not the speed.
#include "cluster/link_probe.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "cluster/link_probe_socket.h"
#include "cluster/link_table_measure.h"

namespace tandem {
namespace {

using testing::HasSubstr;

const ProbeTiming kQuick = ProbeTiming{}.scaled_to(0.3);
constexpr const char* kLoopback = "127.0.0.1";

FileDescriptor stranger(int port, std::string_view says) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, kLoopback, &to.sin_addr);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(::send(socket.get(), says.data(), says.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(says.size()));
  return socket;
}

TEST(LinkProbe, BothEndsGetTheSameNumbers) {
  const ProbeListener listener(kLoopback);
  const ProbeSecrets secrets = new_probe_secrets();
  auto answered = std::async(std::launch::async, [&] {
    const FileDescriptor socket = listener.accept(secrets, 10, "a");
    return probe_link(socket.get(), ProbeSide::answering, kQuick, "a");
  });
  const FileDescriptor socket =
      connect_probe(kLoopback, kLoopback, listener.port(), secrets, 10, "b");
  const LinkMeasure opened = probe_link(socket.get(), ProbeSide::opening, kQuick, "b");
  EXPECT_EQ(link_json(opened).dump(), link_json(answered.get()).dump());
  for (const double rate :
       {opened.there_both, opened.back_both, opened.there_alone, opened.back_alone}) {
    EXPECT_GT(rate, 1e6);  // loopback, however busy the machine
  }
  EXPECT_GT(opened.rtt_min_seconds, 0);
  EXPECT_GE(opened.rtt_median_seconds, opened.rtt_min_seconds);
  EXPECT_LT(std::abs(opened.clock_ahead_seconds), 0.5);  // one clock
}

TEST(LinkProbe, AStrangerCannotTakeThePlace) {
  const ProbeListener listener(kLoopback);
  const ProbeSecrets secrets = new_probe_secrets();
  auto accepted =
      std::async(std::launch::async, [&] { return listener.accept(secrets, 10, "a").get() >= 0; });
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(stranger(listener.port(), i % 2 ? "" : "GET /"));
  strangers.push_back(stranger(listener.port(), std::string(64, 'a')));
  const FileDescriptor socket =
      connect_probe(kLoopback, kLoopback, listener.port(), secrets, 10, "b");
  EXPECT_TRUE(accepted.get());
}

TEST(LinkProbe, AFalseListenerIsRefused) {
  const ProbeListener listener(kLoopback);
  const ProbeSecrets right = new_probe_secrets();
  auto accepted = std::async(std::launch::async, [&] {
    return listener.accept({right.opening, std::string(64, 'x')}, 10, "a");
  });
  EXPECT_THROW(connect_probe(kLoopback, kLoopback, listener.port(), right, 10, "b"), EnvError);
}

TEST(LinkProbe, WhoDoesNotComeIsNamed) {
  const ProbeListener listener(kLoopback);
  try {
    listener.accept(new_probe_secrets(), 0.05, "host-b");
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_THAT(error.what(), HasSubstr("host-b did not connect"));
  }
}

// A connection that waits and cannot be taken, as no descriptor is left: poll calls all the time.
TEST(LinkProbe, TheLimitHoldsWhenNoConnectionCanBeTaken) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer opens a pipe to look at memory; here none is left";
#endif
  const ProbeListener listener(kLoopback);
  const FileDescriptor waiting = stranger(listener.port(), "");
  const FileDescriptor next_free(::dup(waiting.get()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none_left{static_cast<rlim_t>(next_free.get()) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const std::clock_t began = std::clock();
  auto accepted =
      std::async(std::launch::async, [&] { listener.accept(new_probe_secrets(), 0.5, "host-b"); });
  const auto done = accepted.wait_for(std::chrono::seconds(10));
  const double cpu_seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(done, std::future_status::ready);
  EXPECT_LT(cpu_seconds, 0.25);
  EXPECT_THROW(accepted.get(), EnvError);
}

TEST(LinkProbe, APeerThatGoesOrFreezesIsNamed) {
  for (const bool freezes : {false, true}) {
    const ProbeListener listener(kLoopback);
    const ProbeSecrets secrets = new_probe_secrets();
    auto accepted =
        std::async(std::launch::async, [&] { return listener.accept(secrets, 10, "a"); });
    const FileDescriptor socket =
        connect_probe(kLoopback, kLoopback, listener.port(), secrets, 10, "host-b");
    FileDescriptor other = accepted.get();
    if (!freezes) other = FileDescriptor();
    ProbeTiming timing = kQuick;
    timing.limit_seconds = 0.2;
    try {
      probe_link(socket.get(), ProbeSide::opening, timing, "host-b");
      FAIL();
    } catch (const EnvError& error) {
      EXPECT_THAT(error.what(), HasSubstr("link to host-b failed"));
      EXPECT_THAT(error.what(), HasSubstr(freezes ? "nothing moves" : "close"));
    }
  }
}

// Workers as threads of this process; hosts differ by name only.
World fake_world(int hosts, int workers_per_host, int rank, const std::string& address) {
  World world;
  world.rank = rank;
  for (int i = 0; i < hosts * workers_per_host; ++i) {
    const int host = i / workers_per_host;
    world.workers.push_back(
        {format("host-{}", static_cast<char>('a' + host)), address, 0, host, i % workers_per_host});
  }
  return world;
}

TEST(LinkTableMeasure, AllWorkersGetTheSameTable) {
  for (const int hosts : {1, 2, 3, 4}) {
    const auto store = memory_store();
    std::vector<std::future<std::string>> tables;
    for (int rank = 0; rank < hosts * 2; ++rank) {
      tables.push_back(std::async(std::launch::async, [&, rank] {
        const World world = fake_world(hosts, 2, rank, kLoopback);
        return link_table_json(measure_links(world, *store, {.seconds = 0.3})).dump();
      }));
    }
    const std::string first = tables.front().get();
    for (std::size_t i = 1; i < tables.size(); ++i) EXPECT_EQ(tables[i].get(), first);
    const std::size_t links = hosts == 1 ? 0 : hosts == 2 ? 1 : static_cast<std::size_t>(hosts);
    EXPECT_EQ(Json::parse(first, "table").items().size(), links);
  }
}

TEST(LinkTableMeasure, ADeadLinkIsOneErrorWithBothNames) {
  const auto store = memory_store();
  std::vector<std::future<std::string>> errors;
  for (int rank = 0; rank < 3; ++rank) {
    errors.push_back(std::async(std::launch::async, [&, rank]() -> std::string {
      World world = fake_world(3, 1, rank, kLoopback);
      world.workers[2].address = "192.0.2.1";  // not of this machine
      try {
        measure_links(world, *store, {.seconds = 0.2, .limit_seconds = 0.5});
      } catch (const EnvError& error) {
        return error.what();
      }
      return "";
    }));
  }
  for (auto& error : errors) {
    const std::string text = error.get();
    EXPECT_THAT(text, HasSubstr("host-b and host-c"));
    EXPECT_THAT(text, HasSubstr("192.0.2.1"));
  }
}

}  // namespace
}  // namespace tandem
