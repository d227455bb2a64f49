#include "cluster/even_links.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>

namespace tandem {
namespace {

constexpr std::string_view kEven = "cubic";
constexpr unsigned kLocalMicroseconds = 20000;  // of a round trip; a busy machine adds to it

}  // namespace

bool shares_badly(int socket) {
  char name[16] = {};
  socklen_t size = sizeof name - 1;
  if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size) != 0) return false;
  tcp_info info{};
  size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return std::string_view(name).starts_with("bbr") && info.tcpi_rtt < kLocalMicroseconds;
}

bool share_evenly(int socket) {
  return shares_badly(socket) && setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kEven.data(),
                                            static_cast<socklen_t>(kEven.size())) == 0;
}

}  // namespace tandem
