// sampler: a thread that tells every two seconds what this host is busy with. It only reads.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "observe/nvml.h"
#include "observe/observer.h"
#include "observe/procfs.h"

namespace tandem {

struct SamplerSetting {
  std::string host;
  fs::path run;                // whose disk is watched
  std::string interface = {};  // "": the one with the default route, else the busiest
  std::optional<double> link_bits_per_s = {};  // as measured; else what the card says
  std::vector<std::int64_t> workers = {};      // process ids on this host; none: this one
  std::chrono::milliseconds every{2000};
  fs::path root = "/";  // of proc and sys
  std::string nvml_library = "libnvidia-ml.so.1";
};

// Takes samples when asked: rates are since the sample before (the first: since construction).
class SystemProbe {
 public:
  explicit SystemProbe(SamplerSetting setting);
  SystemRecord sample();

 private:
  using Clock = std::chrono::steady_clock;
  struct Counters {
    Clock::time_point when;
    CpuTicks cpu;
    double busy_seconds = 0;
    NetBytes net;
  };
  Counters count() const;
  double busy_seconds() const;  // of the workers, all together
  std::string choose_interface() const;
  std::string text_of(const fs::path& path) const;  // "" when it cannot be read

  SamplerSetting setting_;
  std::unique_ptr<Nvml> nvml_;
  Counters before_;
};

class Sampler {
 public:
  // observer outlives the sampler and may be told from its thread.
  Sampler(SamplerSetting setting, Observer& observer);

 private:
  std::jthread thread_;
};

}  // namespace tandem
