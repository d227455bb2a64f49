#include "cluster/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress socket_address(const Endpoint& endpoint) {
  SocketAddress result;
  const auto port = htons(static_cast<std::uint16_t>(endpoint.port));
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, endpoint.address.c_str(), &v4) == 1) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = port;
    in.sin_addr = v4;
    std::memcpy(&result.storage, &in, sizeof in);
    result.size = sizeof in;
  } else if (::inet_pton(AF_INET6, endpoint.address.c_str(), &v6) == 1) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = port;
    in.sin6_addr = v6;
    std::memcpy(&result.storage, &in, sizeof in);
    result.size = sizeof in;
  } else {
    throw UserError(format("\"{}\" is no network address", endpoint.address));
  }
  return result;
}

std::optional<Endpoint> endpoint_of(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &storage, sizeof in);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    return Endpoint{text, ntohs(in.sin_port)};
  }
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &storage, sizeof in);
    ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
    return Endpoint{text, ntohs(in.sin6_port)};
  }
  return std::nullopt;
}

Endpoint own_end(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    throw EnvError(format("a socket without an address: {}", errno_text(errno)));
  }
  return endpoint_of(storage).value_or(Endpoint{});
}

// Invalid on failure, errno says why.
FileDescriptor new_socket(int family) {
  FileDescriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return fd;
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  return fd;
}

// False: the deadline passed.
bool wait_for(int fd, short events, SteadyTime deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto wait = std::clamp<std::int64_t>(left.count(), 0, 60'000);
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(wait));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw EnvError(format("poll: {}", errno_text(errno)));
    if (left.count() <= 0) return false;
  }
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  return v6 ? format("[{}]:{}", endpoint.address, endpoint.port)
            : format("{}:{}", endpoint.address, endpoint.port);
}

std::optional<ListeningSocket> listen_at(const Endpoint& endpoint, std::string& problem) {
  check(endpoint.address != "0.0.0.0" && endpoint.address != "::", "listening to the whole world");
  const SocketAddress address = socket_address(endpoint);
  FileDescriptor fd = new_socket(address.storage.ss_family);
  if (fd.get() < 0) throw EnvError(format("cannot open a socket: {}", errno_text(errno)));
  const int yes = 1;  // a port whose last connections are only just closed is free
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), 512) != 0) {
    problem = errno_text(errno);
    return std::nullopt;
  }
  Endpoint at = own_end(fd.get());
  return ListeningSocket{std::move(fd), std::move(at)};
}

ListeningSocket inherited_socket(int fd) {
  ListeningSocket socket{FileDescriptor(fd), {}};
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
      ::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
    throw EnvError(format("TANDEM_LISTEN_FD={} is no open socket: {}", fd, errno_text(errno)));
  }
  socket.at = own_end(fd);
  return socket;
}

FileDescriptor connect_to(const Endpoint& endpoint, SteadyTime deadline, std::string& problem) {
  const SocketAddress address = socket_address(endpoint);
  FileDescriptor fd = new_socket(address.storage.ss_family);
  const bool begun = fd.get() >= 0 && (::connect(fd.get(), address.get(), address.size) == 0 ||
                                       errno == EINPROGRESS);
  if (!begun) {
    problem = errno_text(errno);
    return {};
  }
  if (!wait_for(fd.get(), POLLOUT, deadline)) {
    problem = "no answer";
    return {};
  }
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0) {
    problem = errno_text(failure);
    return {};
  }
  // A connection to a free port of the own host can meet itself.
  if (own_end(fd.get()) == endpoint) {
    problem = errno_text(ECONNREFUSED);
    return {};
  }
  return fd;
}

std::vector<std::string> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> v4, v6;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return {};
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, at->ai_addr, std::min<std::size_t>(at->ai_addrlen, sizeof storage));
    const auto endpoint = endpoint_of(storage);
    if (endpoint) (at->ai_family == AF_INET ? v4 : v6).push_back(endpoint->address);
  }
  ::freeaddrinfo(found);
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

std::string peer_text(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "a closed end";
  const auto endpoint = endpoint_of(storage);
  return endpoint ? to_text(*endpoint) : "a local process";
}

Transfer write_all(int fd, std::string_view bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(fd, POLLOUT, deadline)) return Transfer::late;
    } else if (errno != EINTR) {
      return Transfer::closed;
    }
  }
  return Transfer::done;
}

Transfer read_exactly(int fd, std::string& bytes, std::size_t count, SteadyTime deadline) {
  bytes.resize(count);
  std::size_t done = 0;
  while (done < count) {
    const ssize_t n = ::recv(fd, bytes.data() + done, count - done, MSG_DONTWAIT);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait_for(fd, POLLIN, deadline)) return Transfer::late;
    } else if (n == 0 || errno != EINTR) {
      return Transfer::closed;
    }
  }
  return Transfer::done;
}

std::string framed(std::string_view message) {
  check(message.size() <= kMostFrameBytes, "a message too long to send");
  return WireWriter().text(message).take();
}

Transfer read_frame(int fd, std::string& message, SteadyTime deadline) {
  std::string head;
  if (const Transfer got = read_exactly(fd, head, 4, deadline); got != Transfer::done) return got;
  const std::uint32_t size = WireReader(head).u32();
  if (size > kMostFrameBytes) return Transfer::closed;
  return read_exactly(fd, message, size, deadline);
}

}  // namespace tandem
