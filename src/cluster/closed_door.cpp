#include "cluster/closed_door.h"

#include <linux/filter.h>
#include <sys/socket.h>

namespace tandem {

// Not shutdown(): the library would be told again and again that its socket has ended.
bool close_door(int listening_socket) {
  sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &drop};
  return setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

}  // namespace tandem
