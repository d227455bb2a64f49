// tcp: sockets that listen on one address only and never wait longer than a deadline.
// Addresses are numeric IPv4 or IPv6; resolve() makes them of names.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace tandem {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Endpoint {
  std::string address;
  int port = 0;
  bool operator==(const Endpoint&) const = default;
};
std::string to_text(const Endpoint& endpoint);  // "10.0.0.1:4711", "[fd00::1]:4711"

// A socket that listens, and where.
struct ListeningSocket {
  FileDescriptor fd;
  Endpoint at;
};

// Port 0: any free one. A wildcard address is our own mistake. When it cannot be had, the result is
// empty and problem says why in the system's words.
std::optional<ListeningSocket> listen_at(const Endpoint& endpoint, std::string& problem);

// An already listening socket that this process was given by its parent.
ListeningSocket inherited_socket(int fd);

// Empty on failure; problem says why in the system's words.
FileDescriptor connect_to(const Endpoint& endpoint, SteadyTime deadline, std::string& problem);

// The addresses of a name, IPv4 first; a numeric address is itself. Empty when the name is unknown.
std::vector<std::string> resolve(const std::string& name);

bool is_loopback(std::string_view address);

// The other end of a connection as text; "a local process" where it has no address.
std::string peer_text(int fd);

enum class Transfer { done, closed, late };
Transfer write_all(int fd, std::string_view bytes, SteadyTime deadline);
Transfer read_exactly(int fd, std::string& bytes, std::size_t count, SteadyTime deadline);

// One message: its length in four bytes, then itself. Longer ones than kMostFrameBytes are
// nobody's.
inline constexpr std::size_t kMostFrameBytes = std::size_t{16} << 20;
std::string framed(std::string_view message);
Transfer read_frame(int fd, std::string& message, SteadyTime deadline);

}  // namespace tandem
