#include "base/screen.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace tandem {

bool show_past_streams(std::string_view text, std::chrono::milliseconds most) {
  while (!text.empty()) {
    pollfd screen{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&screen, 1, static_cast<int>(most.count())) <= 0) return false;
    // A pipe that is ready takes so much without waiting.
    const auto shown =
        ::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (shown <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(shown));
  }
  return true;
}

}  // namespace tandem
