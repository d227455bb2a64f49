// Disk running out? Free space where the run lies, how fast it shrinks, against what is left to
// train.
#include <algorithm>
#include <map>
#include <vector>

#include "base/format.h"
#include "base/progress.h"
#include "base/scaled_text.h"
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

// The disk of one host.
struct DiskSamples {
  std::string host;
  std::vector<double> time, free;
};

// Of hosts that told enough of them and did not leave before the newest start.
std::vector<DiskSamples> samples_by_host(const RunLog& log) {
  std::map<std::string, DiskSamples> hosts;
  for (const auto& [time, sample] : log.systems) {
    if (!(sample.disk_free_bytes > 0)) continue;
    DiskSamples& host = hosts[sample.host];
    host.host = sample.host;
    host.time.push_back(time);
    host.free.push_back(sample.disk_free_bytes);
  }
  const double since = log.starts.empty() ? 0 : log.starts.back().time;
  std::vector<DiskSamples> out;
  for (auto& [name, host] : hosts) {
    const bool enough = host.free.size() >= kFewestSamples;
    if (enough && host.time.back() >= since) out.push_back(std::move(host));
  }
  return out;
}

struct DiskOutlook {
  std::string host;
  double free = 0, lost = 0;  // bytes, and bytes a second
  double at_end = 0;          // free bytes when training ends
};

// The one where space runs out first.
DiskOutlook worst_outlook(const std::vector<DiskSamples>& hosts, double seconds_left) {
  std::vector<DiskOutlook> all;
  for (const DiskSamples& host : hosts) {
    const double free = host.free.back(), lost = shrinking(host.time, host.free);
    all.push_back({host.host, free, lost, free - std::max(0.0, lost) * seconds_left});
  }
  return *std::ranges::min_element(all, {}, &DiskOutlook::at_end);
}

bool failed_to_save(const RunLog& log) {
  return std::ranges::any_of(log.events, [](const auto& event) {
    return event.record.text.find("No space left") != std::string::npos;
  });
}

}  // namespace

Finding judge_disk(const Judged& run) {
  Finding f{.key = "disk", .question = "Is the disk running out?"};
  f.confidence = Confidence::high;
  f.advice = "free some space, or lower checkpoint.keep or checkpoint.best";
  f.good = false;
  f.verdict = Ruling::yes;
  if (failed_to_save(run.log)) {
    f.text = "yes: something could not be saved for lack of space";
    return f;
  }
  const std::vector<DiskSamples> hosts = samples_by_host(run.log);
  if (hosts.empty()) {
    return cannot_tell(std::move(f), "the journal has too few samples of the disk");
  }
  const double room = kCheckpointsOfRoom * run.log.number_fact("checkpoint_bytes").value_or(0);
  const DiskOutlook disk = worst_outlook(hosts, run.totals.seconds_left.value_or(0));
  const std::string where = hosts.size() > 1 ? " on " + disk.host : "";
  f.evidence.set("host", disk.host)
      .set("free_bytes", disk.free)
      .set("lost_bytes_per_s", disk.lost)
      .set("free_bytes_at_end", disk.at_end)
      .set("room_needed_bytes", room);
  if (disk.free < room) {
    f.text = format("yes: {} are free{}, two checkpoints take {}", bytes_text(disk.free), where,
                    bytes_text(room));
    return f;
  }
  if (disk.at_end < room) {
    f.text = format("yes, in about {}: {} are free{} and it loses {} an hour",
                    duration_text((disk.free - room) / disk.lost), bytes_text(disk.free), where,
                    bytes_text(disk.lost * 3600));
    return f;
  }
  f.verdict = Ruling::no;
  f.good = true;
  f.advice = "";
  f.text = format("no: {} are free{}", bytes_text(disk.free), where);
  return f;
}

}  // namespace tandem
