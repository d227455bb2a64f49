// write_journal JOURNAL TOLD FROM: tells step after step to a journal until it is killed, the first
// one FROM + 1. TOLD, 16 bytes, shared memory: the newest step that was told completely, and when
// (seconds, monotonic clock). What the journal lacks of that was lost.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "observe/journal.h"

namespace {

struct Told {
  std::int64_t step;
  double when;
};

double seconds(auto clock_now) {
  return std::chrono::duration<double>(clock_now.time_since_epoch()).count();
}

Told* shared(const char* path) {
  const tandem::FileDescriptor fd(::open(path, O_RDWR | O_CREAT, 0644));
  if (::ftruncate(fd.get(), sizeof(Told)) != 0) std::abort();
  void* memory = ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Told*>(memory);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tandem;
  if (argc != 4) return 2;
  Journal journal(argv[1], [] { return seconds(std::chrono::system_clock::now()); });
  Told* told = shared(argv[2]);
  const std::int64_t from = std::atoll(argv[3]);
  RunRecord run;
  if (from > 0) run.resumed_from = from;
  journal.on_run(run);
  for (std::int64_t number = from + 1;; ++number) {
    StepRecord record;
    record.step = number;
    record.loss = 1.0 / static_cast<double>(number);
    record.seconds.total = 0.001;
    journal.on_step(record);
    told->when = seconds(std::chrono::steady_clock::now());
    told->step = number;
  }
}
