#include "cluster/link_probe_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostStrangers = 16;
constexpr auto kAfterFailure = std::chrono::milliseconds(10);  // before accept is tried again

struct FreeAddress {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Address = std::unique_ptr<addrinfo, FreeAddress>;

Address address_of(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
    throw EnvError(format("\"{}\" is no address that a link can be probed at", host));
  }
  return Address(list);
}

FileDescriptor open_socket(const addrinfo& address) {
  const int kind = address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
  FileDescriptor socket(::socket(address.ai_family, kind, address.ai_protocol));
  if (socket.get() < 0) throw EnvError(format("cannot open a socket: {}", errno_text(errno)));
  return socket;
}

void bind_to(const FileDescriptor& socket, const std::string& address) {
  const Address own = address_of(address, 0);
  if (::bind(socket.get(), own->ai_addr, own->ai_addrlen) == 0) return;
  throw EnvError(format("cannot use the address {} of this host: {}", address, errno_text(errno)));
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string random_word() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw EnvError("the system gives no random bytes");
  }
  return format("{:02x}", join(bytes, ""));
}

// Takes the same time wherever they differ.
bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

// Someone who has connected and not shown all of the secret yet.
struct Candidate {
  FileDescriptor socket;
  std::string shown;

  // False when it will never be the right one.
  bool read_more(std::size_t wanted) {
    std::array<char, 128> buffer{};
    const std::size_t most = std::min(buffer.size(), wanted - shown.size());
    const ssize_t got = ::recv(socket.get(), buffer.data(), most, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    shown.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0;
  }
};

void send_word(const FileDescriptor& socket, const std::string& word) {
  // An empty connection takes 64 bytes at once; should it not, the other side runs out of time.
  (void)!::send(socket.get(), word.data(), word.size(), MSG_NOSIGNAL);
}

// The other side of the handshake: waits for the answering word.
bool receives_word(const FileDescriptor& socket, const std::string& word,
                   Clock::time_point deadline) {
  std::string got;
  while (got.size() < word.size()) {
    pollfd ready{socket.get(), POLLIN, 0};
    if (::poll(&ready, 1, milliseconds_until(deadline)) == 0) return false;
    std::array<char, 128> buffer{};
    const ssize_t more = ::recv(socket.get(), buffer.data(), word.size() - got.size(), 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (more <= 0) return false;
    got.append(buffer.data(), static_cast<std::size_t>(more));
  }
  return same_word(got, word);
}

}  // namespace

ProbeSecrets new_probe_secrets() {
  return {random_word(), random_word()};
}

ProbeListener::ProbeListener(const std::string& address) {
  socket_ = open_socket(*address_of(address, 0));
  bind_to(socket_, address);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::listen(socket_.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    throw EnvError(format("cannot listen at {}: {}", address, errno_text(errno)));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&bound);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&bound);
  port_ = ntohs(bound.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
}

FileDescriptor ProbeListener::accept(const ProbeSecrets& secrets, double limit_seconds,
                                     const std::string& peer) const {
  const Clock::time_point deadline = after(limit_seconds);
  std::vector<Candidate> candidates;
  for (;;) {
    std::vector<pollfd> ready{{socket_.get(), POLLIN, 0}};
    for (const Candidate& c : candidates) ready.push_back({c.socket.get(), POLLIN, 0});
    const int events = ::poll(ready.data(), ready.size(), milliseconds_until(deadline));
    // Strangers that keep coming must not keep it waiting for longer.
    if (Clock::now() >= deadline) {
      throw EnvError(
          format("{} did not connect for the probe of the link within {:.0f} s; "
                 "check routes and firewall between the hosts",
                 peer, limit_seconds));
    }
    std::erase_if(candidates, [&](Candidate& c) {
      return !c.read_more(secrets.opening.size()) ||
             (c.shown.size() == secrets.opening.size() && !same_word(c.shown, secrets.opening));
    });
    const auto right = std::ranges::find(candidates, secrets.opening, &Candidate::shown);
    if (right != candidates.end()) {
      send_word(right->socket, secrets.answering);
      return std::move(right->socket);
    }
    if (events > 0 && ready.front().revents == 0) continue;  // only candidates have spoken
    FileDescriptor next(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (next.get() < 0) {  // for want of descriptors, say: poll would call again at once
      std::this_thread::sleep_for(kAfterFailure);
      continue;
    }
    // The oldest gives way: silent strangers cannot keep the peer out.
    if (candidates.size() == kMostStrangers) candidates.erase(candidates.begin());
    candidates.push_back({std::move(next), {}});
  }
}

FileDescriptor connect_probe(const std::string& own_address, const std::string& address, int port,
                             const ProbeSecrets& secrets, double limit_seconds,
                             const std::string& peer) {
  const Clock::time_point deadline = after(limit_seconds);
  const Address other = address_of(address, port);
  FileDescriptor socket = open_socket(*other);
  bind_to(socket, own_address);
  const auto refuse = [&](const std::string& why) {
    return EnvError(format("cannot reach {} at {} port {} from {}: {}; check routes and firewall",
                           peer, address, port, own_address, why));
  };
  if (::connect(socket.get(), other->ai_addr, other->ai_addrlen) != 0) {
    if (errno != EINPROGRESS) throw refuse(errno_text(errno));
    pollfd ready{socket.get(), POLLOUT, 0};
    if (::poll(&ready, 1, milliseconds_until(deadline)) == 0) throw refuse("no answer");
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) throw refuse(errno_text(error));
  }
  send_word(socket, secrets.opening);
  if (!receives_word(socket, secrets.answering, deadline)) {
    throw refuse("whoever answers there does not belong to this run");
  }
  return socket;
}

}  // namespace tandem
