#include "cluster/closed_door.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>

namespace tandem {

namespace fs = std::filesystem;

std::vector<int> listening_sockets() {
  std::vector<int> found;
  std::error_code failed;
  for (fs::directory_iterator entry("/proc/self/fd", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename();
    int fd = -1, listens = 0;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    socklen_t size = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0) {
      found.push_back(fd);
    }
  }
  return found;
}

// Not shutdown(): the library would be told again and again that its socket has ended.
bool close_door(int listening_socket) {
  sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &drop};
  return setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

}  // namespace tandem
