// Disk running out? Free space where the run lies, how fast it shrinks, against what is left to
// train.
#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/progress.h"
#include "report/statistics.h"
#include "report/units.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kFewestSamples = 10;
constexpr double kCheckpointsOfRoom = 2;

// Bytes a second that vanish, from the middles of the first and last fifth: checkpoints come and
// go in between.
double shrinking(const std::vector<double>& time, const std::vector<double>& free) {
  const auto fifth = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, free.size() / 5));
  const auto middle = [&](auto begin) { return median({begin, begin + fifth}); };
  const double seconds = middle(time.end() - fifth) - middle(time.begin());
  return seconds > 0 ? (middle(free.begin()) - middle(free.end() - fifth)) / seconds : 0;
}

bool failed_to_save(const RunLog& log) {
  return std::ranges::any_of(log.events, [](const auto& event) {
    return event.record.text.find("No space left") != std::string::npos;
  });
}

}  // namespace

Finding judge_disk(const Judged& run) {
  Finding f{.key = "disk", .question = "Is the disk running out?"};
  std::vector<double> time, free;
  const std::string host = run.log.systems.empty() ? "" : run.log.systems.back().record.host;
  for (const auto& sample : run.log.systems) {
    if (sample.record.host != host || !(sample.record.disk_free_bytes > 0)) continue;
    time.push_back(sample.time);
    free.push_back(sample.record.disk_free_bytes);
  }
  f.confidence = Confidence::high;
  f.advice = "free some space, or lower checkpoint.keep or checkpoint.best";
  f.good = false;
  f.verdict = Ruling::yes;
  if (failed_to_save(run.log)) {
    f.text = "yes: something could not be saved for lack of space";
    return f;
  }
  if (free.size() < kFewestSamples) {
    return cannot_tell(std::move(f), "the journal has too few samples of the disk");
  }
  const double room = kCheckpointsOfRoom * run.log.number_fact("checkpoint_bytes").value_or(0);
  const double lost = shrinking(time, free);
  const double left = run.totals.seconds_left.value_or(0);
  const double at_end = free.back() - std::max(0.0, lost) * left;
  f.evidence.set("free_bytes", free.back())
      .set("lost_bytes_per_s", lost)
      .set("free_bytes_at_end", at_end)
      .set("room_needed_bytes", room);
  if (free.back() < room) {
    f.text = format("yes: {} are free, two checkpoints take {}", human_bytes(free.back()),
                    human_bytes(room));
    return f;
  }
  if (at_end < room) {
    f.text = format("yes, in about {}: {} are free and it loses {} an hour",
                    duration_text((free.back() - room) / lost), human_bytes(free.back()),
                    human_bytes(lost * 3600));
    return f;
  }
  f.verdict = Ruling::no;
  f.good = true;
  f.advice = "";
  f.text = format("no: {} are free", human_bytes(free.back()));
  return f;
}

}  // namespace tandem
