#include "cluster/own_sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>

namespace tandem {
namespace {

namespace fs = std::filesystem;

bool listens(int fd) {
  int yes = 0;
  socklen_t size = sizeof yes;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes != 0;
}

bool is_connected(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_ESTABLISHED;
}

std::optional<std::vector<int>> own_sockets(bool (*wanted)(int)) {
  std::vector<int> found;
  std::error_code failed;
  for (fs::directory_iterator entry("/proc/self/fd", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (wanted(fd)) found.push_back(fd);
  }
  if (failed) return {};
  return found;
}

}  // namespace

std::optional<std::vector<int>> listening_sockets() {
  return own_sockets(listens);
}

std::vector<int> connected_sockets() {
  return own_sockets(is_connected).value_or(std::vector<int>{});
}

}  // namespace tandem
