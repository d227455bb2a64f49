#include "cli/cut_files.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace tandem {
namespace {

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

// A line of /proc/self/maps: begin-end flags offset device inode path. Empty: it is not in there.
std::string_view path_if_mapped(std::string_view line, std::uint64_t address) {
  std::uint64_t begin = 0, end = 0;
  const char* const last = line.data() + line.size();
  const auto [dash, bad_begin] = std::from_chars(line.data(), last, begin, 16);
  if (bad_begin != std::errc{} || dash == last) return {};
  const auto [rest, bad_end] = std::from_chars(dash + 1, last, end, 16);
  if (bad_end != std::errc{} || address < begin || address >= end) return {};
  const std::size_t path = line.find('/');
  return path == std::string_view::npos ? std::string_view() : line.substr(path);
}

// In a signal handler: no memory, no locks.
extern "C" void on_bus_error(int, siginfo_t* info, void*) {
  say("tandem: cannot read ");
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::array<char, 8192> block{};
  std::size_t held = 0;
  std::string_view path;
  while (path.empty()) {
    const ssize_t n = ::read(maps, block.data() + held, block.size() - held);
    if (n <= 0) break;
    const std::string_view text(block.data(), held + static_cast<std::size_t>(n));
    std::size_t begin = 0, end = 0;
    while (path.empty() && (end = text.find('\n', begin)) != std::string_view::npos) {
      path = path_if_mapped(text.substr(begin, end - begin), address);
      begin = end + 1;
    }
    if (!path.empty()) break;
    held = text.size() - begin;  // the start of the next line
    std::memmove(block.data(), block.data() + begin, held);
  }
  say(path.empty() ? "a mapped file" : path);
  say(": it was cut short meanwhile, or its disk fails\n");
  ::_exit(static_cast<int>(ExitCode::environment));
}

}  // namespace

void name_cut_files() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace tandem
