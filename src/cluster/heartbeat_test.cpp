#include "cluster/heartbeat.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <optional>

#include "cluster/heartbeat_protocol.h"
#include "cluster/phase.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

TEST(Heartbeat, ARankZeroThatNeverSaysAnythingIsMissedAfterTheTimeout) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor silent(ends[1]);
  std::promise<std::string> lost;
  HeartbeatOptions options;
  options.rank = 1;
  options.name = "host-a rank 1 (pid 1)";
  options.limits.timeout = 200ms;
  options.limits.period = 20ms;
  options.on_lost = [&](const std::string& cause) { lost.set_value(cause); };
  const auto start = std::chrono::steady_clock::now();
  const Heartbeat heartbeat(FileDescriptor(ends[0]), options);
  std::future<std::string> cause = lost.get_future();
  ASSERT_EQ(cause.wait_for(20s), std::future_status::ready);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
  EXPECT_EQ(cause.get(), "rank 0 stopped answering in phase start at step 0");
}

// Of a worker that was told to stop while nothing comes from rank 0. None: it was not called.
std::optional<std::string> cut_off_in(const char* phase, std::chrono::milliseconds patience) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor silent(ends[1]);
  std::promise<std::string> cut_off;
  const std::atomic<bool> stop = true;
  HeartbeatOptions options;
  options.rank = 1;
  options.limits.timeout = 100ms;
  options.limits.period = 20ms;
  options.limits.to_agree_on_stop = 100ms;
  options.stop = &stop;
  options.on_cut_off = [&](const std::string& why) { cut_off.set_value(why); };
  Heartbeat heartbeat(FileDescriptor(ends[0]), options);
  heartbeat.at(3, phase);
  heartbeat.be_patient(patience);
  std::future<std::string> why = cut_off.get_future();
  if (why.wait_for(1s) != std::future_status::ready) return {};
  return why.get();
}

TEST(Heartbeat, WhoIsToldToStopDoesNotWaitForACutLink) {
  EXPECT_EQ(cut_off_in(kComputing, 60s), "rank 0 was not heard of since phase start of step 0");
  EXPECT_EQ(cut_off_in(kSaving, 60s), std::nullopt) << "what is being written is waited for";
  EXPECT_EQ(cut_off_in(kComputing, 0s), std::nullopt) << "a cut ends the run anyway";
}

TEST(Heartbeat, AStopIsToldAgainUntilItGoesOut) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor hub(ends[1]);
  HeartbeatOptions options;
  options.rank = 1;
  options.limits.timeout = 60s;
  Heartbeat heartbeat(FileDescriptor(ends[0]), options);
  const std::string junk(65536, 'x');
  while (::send(ends[0], junk.data(), junk.size(), MSG_DONTWAIT) > 0) continue;
  heartbeat.want_stop();  // lost
  const std::string stop =
      framed(WireWriter().u8(static_cast<std::uint8_t>(BeatKind::stop)).take());
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  std::string heard;
  char block[65536];
  while (heard.find(stop) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    const ssize_t n = ::recv(hub.get(), block, sizeof block, MSG_DONTWAIT);
    if (n > 0) heard.append(block, static_cast<std::size_t>(n));
  }
  EXPECT_NE(heard.find(stop), std::string::npos);
}

}  // namespace
}  // namespace tandem
