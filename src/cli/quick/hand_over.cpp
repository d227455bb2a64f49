// Before LibTorch's initialisers run, which take 0.4 s: a verb that needs none of it is handed over
// to tandem-quick, a small program that lies inside this one (docs/decisions/0008-quick-start.md).
// Where that is not possible this program goes on and does the same, later. Training is told to end
// by signals: those that come before it listens wait until then.
//
// The others start once more with OpenMP's threads told to sleep while they wait for each other:
// the library looks at the environment when it is loaded. By default they spin for milliseconds,
// which makes a step many times as long where a core is wanted by anybody else.
//
// It runs before anything is initialised, so it uses nothing but system calls.
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "base/signals.h"

asm(R"(
  .section .rodata
  .balign 16
tandem_quick_begin:
  .incbin ")" TANDEM_QUICK_PROGRAM R"("
tandem_quick_end:
  .previous
)");
extern "C" const char tandem_quick_begin[], tandem_quick_end[];

namespace {

constexpr const char* kQuickVerbs[] = {"config",  "decode",  "encode", "export-log", "get",
                                       "inspect", "prepare", "report", "watch"};

bool is_quick(const char* verb) {
  for (const char* quick : kQuickVerbs) {
    if (std::strcmp(verb, quick) == 0) return true;
  }
  return false;
}

bool write_all(int file, const char* from, const char* end) {
  while (from != end) {
    const ssize_t n = ::write(file, from, static_cast<std::size_t>(end - from));
    if (n <= 0) return false;
    from += n;
  }
  return true;
}

// Until StopSignals listens to them.
void hold_stop_signals() {
  sigset_t stops;
  ::sigemptyset(&stops);
  for (const int number : tandem::kStopSignals) ::sigaddset(&stops, number);
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
}

bool names(const char* variable, const char* name) {
  return std::strncmp(variable, name, std::strlen(name)) == 0;
}

// Returns where somebody has said how threads wait, where nothing can be started, and where there
// is more environment than anybody has.
void start_with_sleeping_threads(char** argv, char** environment) {
  constexpr std::size_t kMost = 4096;
  static char* longer[kMost + 2];
  static char sleeping[] = "OMP_WAIT_POLICY=passive";
  static char self[PATH_MAX];
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    const char* variable = environment[count];
    if (names(variable, "OMP_WAIT_POLICY=") || names(variable, "GOMP_SPINCOUNT=")) return;
    if (count == kMost) return;
    longer[count] = environment[count];
  }
  longer[count] = sleeping;
  if (::readlink("/proc/self/exe", self, sizeof self - 1) > 0) ::execve(self, argv, longer);
}

void hand_over(int argc, char** argv, char** environment) {
  if (argc < 2) return;
  if (std::strcmp(argv[1], "train") == 0) hold_stop_signals();
  if (!is_quick(argv[1])) return start_with_sleeping_threads(argv, environment);
  const int file = ::memfd_create("tandem", MFD_CLOEXEC);
  if (file < 0) return;
  if (write_all(file, tandem_quick_begin, tandem_quick_end)) ::fexecve(file, argv, environment);
  ::close(file);
}

// The loader calls these before the initialisers of all libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const call_first)(int, char**,
                                                                       char**) = hand_over;

}  // namespace
