// Stands in for the NVIDIA driver's library: two GPUs, the second of which does not tell its power.
#include <cstring>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3;
int gpus[2] = {0, 1};

int index_of(void* device) {
  return *static_cast<int*>(device);
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return kSuccess;
}
int nvmlShutdown() {
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = &gpus[index];
  return kSuccess;
}
int nvmlDeviceGetName(void*, char* name, unsigned int length) {
  std::strncpy(name, "Stand-in GPU", length);
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned int* gpu_and_memory) {
  gpu_and_memory[0] = index_of(device) == 0 ? 97 : 41;
  gpu_and_memory[1] = 10;
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[0] = 16ull << 30;
  total_free_used[1] = 12ull << 30;
  total_free_used[2] = 4ull << 30;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) {
  if (index_of(device) == 1) return kNotSupported;
  *milliwatts = 231500;
  return kSuccess;
}
int nvmlDeviceGetTemperature(void*, int, unsigned int* celsius) {
  *celsius = 64;
  return kSuccess;
}

}  // extern "C"
