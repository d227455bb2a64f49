// Before LibTorch's initialisers run, which take 0.4 s: a verb that needs none of it is handed over
// to tandem-quick, a small program that lies inside this one (docs/decisions/0008-quick-start.md).
// Where that is not possible this program goes on and does the same, later. Training is told to end
// by signals: those that come before it listens wait until then.
//
// It runs before anything is initialised, so it uses nothing but system calls.
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

void hand_over(int argc, char** argv, char** environment) {
  if (argc < 2) return;
  if (std::strcmp(argv[1], "train") == 0) hold_stop_signals();
  if (!is_quick(argv[1])) return;
  const int file = ::memfd_create("tandem", MFD_CLOEXEC);
  if (file < 0) return;
  if (write_all(file, tandem_quick_begin, tandem_quick_end)) ::fexecve(file, argv, environment);
  ::close(file);
}

// The loader calls these before the initialisers of all libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const call_first)(int, char**,
                                                                       char**) = hand_over;

}  // namespace
