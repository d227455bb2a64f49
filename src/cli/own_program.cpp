#include "cli/own_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"

namespace tandem {
namespace {

constexpr int kLookMs = 20;

}  // namespace

int run_own_program(const std::vector<std::string>& arguments, const fs::path& standard_input) {
  std::fflush(stdout);  // or its output would come before ours
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const StopSignals signals;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, standard_input.c_str(), O_RDONLY, 0);
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw EnvError(format("cannot start {}: {}", program, errno_text(failure)));
  }
  int status = 0;
  bool told = false;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (signals.flag() && !std::exchange(told, true)) ::kill(child, SIGTERM);
    ::poll(nullptr, 0, kLookMs);
  }
  if (told && status != 0) return static_cast<int>(ExitCode::interrupted);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tandem
