#include "cluster/bucket_gate.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <vector>

namespace tandem {
namespace {

class OpenGate final : public BucketGate {
 public:
  void mark_ready(std::size_t) override {}
  bool is_ready(std::size_t) const override { return true; }
  void mark_back(std::size_t) override {}
  bool is_back(std::size_t) const override { return true; }
  c10::OptionalStreamGuard own_stream() override { return c10::OptionalStreamGuard(); }
};

// By c10's events and streams of any kind of device, so no header of CUDA is needed.
class GpuGate final : public BucketGate {
 public:
  GpuGate(at::Device device, std::size_t buckets)
      : gpu_(device.type()), device_(device), own_(gpu_.getStreamFromGlobalPool(device)) {
    for (std::size_t i = 0; i < buckets; ++i) ready_.emplace_back(device.type());
    for (std::size_t i = 0; i <= buckets; ++i) back_.emplace_back(device.type());
  }

  // Autograd calls hooks with the stream that computes as the current one.
  void mark_ready(std::size_t bucket) override {
    ready_.at(bucket).record(gpu_.getStream(device_));
  }
  bool is_ready(std::size_t bucket) const override { return ready_.at(bucket).query(); }
  void mark_back(std::size_t bucket) override { back_.at(bucket).record(own_); }
  bool is_back(std::size_t bucket) const override { return back_.at(bucket).query(); }
  c10::OptionalStreamGuard own_stream() override { return c10::OptionalStreamGuard(own_); }

 private:
  c10::impl::VirtualGuardImpl gpu_;
  at::Device device_;
  c10::Stream own_;
  std::vector<c10::Event> ready_, back_;
};

}  // namespace

std::unique_ptr<BucketGate> open_gate() {
  return std::make_unique<OpenGate>();
}

std::unique_ptr<BucketGate> gpu_gate(at::Device device, std::size_t buckets) {
  return std::make_unique<GpuGate>(device, buckets);
}

}  // namespace tandem
