#include "cluster/hub.h"

#include <gtest/gtest.h>

#include <thread>

#include "cluster/job_token.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

SteadyTime soon() {
  return std::chrono::steady_clock::now() + 10s;
}

bool takes_calls(const Endpoint& at) {
  std::string problem;
  return connect_to(at, soon(), problem).get() >= 0;
}

TEST(Hub, KeepsTheAddressesAtWhichWorkersHaveArrivedAndNoOthers) {
  HubOptions options;
  options.token = random_token().bytes;
  options.size = 3;
  std::vector<ListeningSocket> sockets;
  std::vector<Endpoint> at;
  std::string problem;
  for (const char* address : {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    auto socket = listen_at({address, 0}, problem);
    ASSERT_TRUE(socket) << problem;
    at.push_back(socket->at);
    sockets.push_back(std::move(*socket));
  }
  Hub hub(std::move(sockets), options, {});
  const FileDescriptor first = call(at[0], options.token, {Purpose::probe, 1, 3}, soon(), problem);
  const FileDescriptor second = call(at[2], options.token, {Purpose::probe, 2, 3}, soon(), problem);
  ASSERT_GE(second.get(), 0) << problem;
  call(at[1], random_token().bytes, {Purpose::probe, 1, 3}, soon(), problem);  // a stranger
  call(at[3], options.token, {Purpose::probe, 1, 4}, soon(), problem);         // of another world

  hub.keep_reached();
  for (const std::size_t nobody : {1, 3}) {
    const auto deadline = soon();
    while (takes_calls(at[nobody]) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_FALSE(takes_calls(at[nobody])) << at[nobody].address;
  }
  EXPECT_TRUE(takes_calls(at[0]));
  EXPECT_TRUE(takes_calls(at[2]));
}

}  // namespace
}  // namespace tandem
