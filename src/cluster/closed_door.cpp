#include "cluster/closed_door.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"
#include "base/format.h"

namespace tandem {

// Not shutdown(): the library would be told again and again that its socket has ended.
bool close_door(int listening_socket) {
  sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &drop};
  return setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

std::string close_doors(const std::optional<std::vector<int>>& listening_sockets) {
  if (!listening_sockets || listening_sockets->empty()) {
    return "its socket is not among those in /proc/self/fd, or that cannot be read";
  }
  std::string problem;
  for (const int socket : *listening_sockets) {
    if (!close_door(socket)) problem = format("a filter is not allowed: {}", errno_text(errno));
  }
  return problem;
}

}  // namespace tandem
