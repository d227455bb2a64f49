#include "translate/serve/client_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tandem {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kLook{200};     // how often one who waits looks whether others do, too
constexpr Milliseconds kGoodbye{500};  // for a client to stop sending what nobody will read
constexpr int kGoodbyeReads = 1000;    // the same in blocks

Milliseconds until(std::chrono::steady_clock::time_point end) {
  return std::chrono::duration_cast<Milliseconds>(end - std::chrono::steady_clock::now());
}

// Whether the socket is ready before the time is over.
bool is_ready(int socket, short events, Milliseconds time) {
  pollfd one{socket, events, 0};
  return ::poll(&one, 1, static_cast<int>(std::max(time, Milliseconds(0)).count())) > 0;
}

}  // namespace

// Closing while bytes lie unread would reset the connection, and the answer with it.
ClientConnection::~ClientConnection() {
  ::shutdown(socket_.get(), SHUT_WR);
  if (whole_ || trouble_ == Trouble::left) return;
  const auto end = Clock::now() + kGoodbye;
  for (int i = 0; i < kGoodbyeReads; ++i) {
    if (!is_ready(socket_.get(), POLLIN, until(end))) return;
    if (::recv(socket_.get(), buffer_, sizeof buffer_, MSG_DONTWAIT) <= 0) return;
  }
}

bool ClientConnection::wait_for_request(const std::atomic<bool>& stop) {
  const auto end = Clock::now() + limits_.silence;
  while (begin_ == end_) {
    if (is_ready(socket_.get(), POLLIN, std::min(until(end), kLook))) break;
    if (stop || Clock::now() >= end || others_ > 0) return false;
  }
  began_ = Clock::now();
  allowed_ = limits_.most_head_bytes;
  in_head_ = true;
  whole_ = false;
  return !stop;
}

void ClientConnection::head_is_whole() {
  in_head_ = false;
  allowed_ = limits_.most_body_bytes;
}

void ClientConnection::request_is_whole() {
  whole_ = true;
  began_ = Clock::now();
}

bool ClientConnection::wait_for(short events) {
  const auto start = Clock::now();
  while (true) {
    if (is_ready(socket_.get(), events, kLook)) return true;
    const auto now = Clock::now();
    const bool reading = events == POLLIN;
    if (now - start > limits_.silence || (reading && now - began_ > limits_.request) ||
        (others_ > 0 && now - (reading ? began_ : start) > limits_.crowded)) {
      return fail(Trouble::too_slow);
    }
  }
}

bool ClientConnection::receive() {
  // A client that never pauses is timed here, one that does in wait_for().
  if (Clock::now() - began_ > limits_.request) return fail(Trouble::too_slow);
  while (true) {
    const ssize_t n = ::recv(socket_.get(), buffer_, sizeof buffer_, MSG_DONTWAIT);
    if (n > 0) {
      begin_ = 0;
      end_ = static_cast<std::size_t>(n);
      return true;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return fail(Trouble::left);
    if (!wait_for(POLLIN)) return false;
  }
}

std::size_t ClientConnection::read(std::span<char> out) {
  if (trouble_ != Trouble::none || out.empty()) return 0;
  if (allowed_ == 0) {
    fail(in_head_ ? Trouble::head_too_large : Trouble::body_too_large);
    return 0;
  }
  if (begin_ == end_ && !receive()) return 0;
  const std::size_t n = std::min({out.size(), end_ - begin_, allowed_});
  std::memcpy(out.data(), buffer_ + begin_, n);
  begin_ += n;
  allowed_ -= n;
  return n;
}

bool ClientConnection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(POLLOUT)) return false;
    } else if (errno != EINTR) {
      return fail(Trouble::left);
    }
  }
  return true;
}

std::string ClientConnection::address() const {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  const void* const number =
      peer.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr;
  return ::inet_ntop(peer.ss_family, number, text, sizeof text) == nullptr ? "" : text;
}

}  // namespace tandem
