// tandem-quick: the verbs that need no LibTorch, for hand_over.cpp. It lies inside the program and
// is not to be called by people.
#include <sys/prctl.h>

#include "cli/program.h"
#include "cli/verbs.h"

namespace tandem {
namespace {

void add_quick_verbs(CommandLine& line) {
  add_config(line);
  add_decode(line);
  add_encode(line);
  add_export_log(line);
  add_get(line);
  add_inspect(line);
  add_prepare(line);
  add_report(line);
  add_watch(line);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  ::prctl(PR_SET_NAME, "tandem");  // else a number, of the descriptor that it was started from
  return tandem::run_program(argc, argv, tandem::add_quick_verbs);
}
