#include "cluster/worker_ends.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "base/signals.h"

namespace tandem {
namespace {

std::string killed_text(const WorkerEnd& end) {
  return format("rank {} (pid {}) was ended by signal {} ({})", end.rank, end.pid, end.signal,
                ::strsignal(end.signal));
}

std::string told_text(const WorkerEnd& end) {
  constexpr std::string_view kPrefix = "tandem: ";
  if (end.words.empty()) {
    return format("rank {} (pid {}) ended with exit code {}{}", end.rank, end.pid, end.exit_code,
                  end.rank == 0 ? "" : " without a word");
  }
  return end.words.substr(end.words.starts_with(kPrefix) ? kPrefix.size() : 0);
}

}  // namespace

SpawnVerdict verdict_of(const std::vector<WorkerEnd>& ends) {
  const WorkerEnd* killed = nullptr;  // the first that a signal of somebody else ended
  const WorkerEnd* told = nullptr;    // the first with a code of its own
  const WorkerEnd* first_rank = nullptr;
  for (const WorkerEnd& end : ends) {
    if (end.rank == 0) first_rank = &end;
    if (end.signal != 0 && !end.stopped_by_us && killed == nullptr) killed = &end;
    if (end.signal != 0 || end.exit_code == 0) continue;
    // 3 is also the code of those who end because another one has failed.
    const bool more_exact = told != nullptr && told->exit_code == 3 && end.exit_code != 3;
    // Rank 0's words went to the terminal; another one has them still.
    const bool has_words = told != nullptr && told->exit_code == end.exit_code &&
                           told->words.empty() && !end.words.empty();
    if (told == nullptr || more_exact || has_words) told = &end;
  }
  if (killed == nullptr && told == nullptr) return {};
  SpawnVerdict verdict;
  verdict.killed = killed != nullptr;
  verdict.cause = killed != nullptr ? killed_text(*killed) : told_text(*told);
  const bool rank_0_spoke =
      first_rank != nullptr && first_rank->signal == 0 && first_rank->exit_code != 0;
  const bool by_code = rank_0_spoke || killed == nullptr;
  verdict.code = by_code ? static_cast<ExitCode>(told->exit_code) : ExitCode::environment;
  if (rank_0_spoke) return verdict;
  verdict.message = verdict.cause;
  if (killed != nullptr) {
    verdict.message +=
        "; the other workers were stopped; run the same command again to go on from the newest "
        "checkpoint";
  }
  return verdict;
}

bool all_ended_as_asked(const std::vector<WorkerEnd>& ends) {
  return std::ranges::all_of(ends, [](const WorkerEnd& end) {
    const bool by_that_signal = std::ranges::find(kStopSignals, end.signal) != kStopSignals.end();
    const bool in_order = end.exit_code == static_cast<int>(ExitCode::ok) ||
                          end.exit_code == static_cast<int>(ExitCode::interrupted);
    return by_that_signal || end.stopped_by_us || (end.signal == 0 && in_order);
  });
}

}  // namespace tandem
