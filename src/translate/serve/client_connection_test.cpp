#include "translate/serve/client_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace tandem {
namespace {

using Trouble = ClientConnection::Trouble;

class Client : public testing::Test {
 protected:
  Client() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    near_ = FileDescriptor(ends[0]);
    far_ = FileDescriptor(ends[1]);
    limits_.most_head_bytes = 100;
    limits_.most_body_bytes = 1000;
    limits_.silence = std::chrono::milliseconds(300);
    limits_.request = std::chrono::milliseconds(900);
    limits_.crowded = std::chrono::milliseconds(1);
  }
  ClientConnection connection() { return {std::move(near_), limits_, others_}; }
  void send(const std::string& text) const {
    EXPECT_EQ(::write(far_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  static std::string read_all(ClientConnection& client) {
    std::string all;
    char piece[7];
    while (const std::size_t n = client.read(piece)) all.append(piece, n);
    return all;
  }

  FileDescriptor near_, far_;
  ConnectionLimits limits_;
  std::atomic<int> others_ = 0;
  const std::atomic<bool> go_on_ = false, stop_ = true;
};

TEST_F(Client, MayNotSendMoreThanTheHeadAndTheBodyMayHave) {
  ClientConnection client = connection();
  send(std::string(5000, 'x'));
  ASSERT_TRUE(client.wait_for_request(go_on_));
  EXPECT_EQ(read_all(client).size(), 100U);
  EXPECT_EQ(client.trouble(), Trouble::head_too_large);
}

TEST_F(Client, SendsTheNextRequestWheneverItLikes) {
  ClientConnection client = connection();
  send("onetwo");
  char three[3];
  for (const std::string expected : {"one", "two"}) {
    ASSERT_TRUE(client.wait_for_request(go_on_));
    EXPECT_FALSE(client.is_request_whole());
    ASSERT_EQ(client.read(three), 3U);
    EXPECT_EQ(std::string(three, 3), expected);
    client.head_is_whole();
    client.request_is_whole();
  }
  EXPECT_FALSE(client.wait_for_request(stop_));
  EXPECT_FALSE(client.wait_for_request(go_on_));  // silence
}

TEST_F(Client, ThatIsSilentInARequestIsTooSlow) {
  ClientConnection client = connection();
  send("half a requ");
  ASSERT_TRUE(client.wait_for_request(go_on_));
  EXPECT_EQ(read_all(client), "half a requ");
  EXPECT_EQ(client.trouble(), Trouble::too_slow);
}

TEST_F(Client, ThatSendsAByteNowAndThenIsTooSlowInTheEnd) {
  ClientConnection client = connection();
  send("x");
  const std::jthread slow([&](const std::stop_token& token) {
    while (!token.stop_requested() && ::send(far_.get(), "x", 1, MSG_NOSIGNAL) == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  ASSERT_TRUE(client.wait_for_request(go_on_));
  EXPECT_LT(read_all(client).size(), 100U);
  EXPECT_EQ(client.trouble(), Trouble::too_slow);
}

TEST_F(Client, GivesWayWhenOthersWait) {
  limits_.silence = limits_.request = std::chrono::hours(1);
  others_ = 1;
  ClientConnection client = connection();
  EXPECT_FALSE(client.wait_for_request(go_on_));
  send("half");
  ASSERT_TRUE(client.wait_for_request(go_on_));
  EXPECT_EQ(read_all(client), "half");
  EXPECT_EQ(client.trouble(), Trouble::too_slow);
}

TEST_F(Client, ThatLeavesIsNoticed) {
  ClientConnection client = connection();
  send("half");
  ASSERT_TRUE(client.wait_for_request(go_on_));
  far_ = FileDescriptor();
  EXPECT_EQ(read_all(client), "half");
  EXPECT_EQ(client.trouble(), Trouble::left);
  EXPECT_FALSE(client.write("an answer"));
}

TEST_F(Client, ThatTakesNothingIsTooSlow) {
  ClientConnection client = connection();
  EXPECT_FALSE(client.write(std::string(10 << 20, 'x')));
  EXPECT_EQ(client.trouble(), Trouble::too_slow);
}

}  // namespace
}  // namespace tandem
