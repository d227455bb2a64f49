// nvml: counters of NVIDIA GPUs, from the driver's library, which is loaded at run time: the same
// program runs where there is none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "observe/records.h"

namespace tandem {

class Nvml {
 public:
  // Null when the library is not there, or sees no GPU.
  static std::unique_ptr<Nvml> load(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::vector<GpuSample> sample() const;  // one for each GPU of the host

 private:
  struct Functions;
  explicit Nvml(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
  std::vector<void*> devices_;
};

}  // namespace tandem
