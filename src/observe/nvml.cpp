#include "observe/nvml.h"

#include <dlfcn.h>

#include <array>

namespace tandem {
namespace {

// As nvml.h has them; it is not needed to build.
struct Utilisation {
  unsigned int gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;  // bytes
};
constexpr int kSuccess = 0;
constexpr int kOfTheChip = 0;  // the only temperature sensor that NVML knows

}  // namespace

struct Nvml::Functions {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*handle)(unsigned int, void**) = nullptr;
  int (*name)(void*, char*, unsigned int) = nullptr;
  int (*utilisation)(void*, Utilisation*) = nullptr;
  int (*memory)(void*, Memory*) = nullptr;
  int (*power)(void*, unsigned int*) = nullptr;  // milliwatts
  int (*temperature)(void*, int, unsigned int*) = nullptr;

  ~Functions() {
    if (library != nullptr) ::dlclose(library);
  }

  template <class Function>
  bool find(Function& function, const char* symbol) const {
    function = reinterpret_cast<Function>(::dlsym(library, symbol));
    return function != nullptr;
  }

  bool find_all() {
    return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(count, "nvmlDeviceGetCount_v2") && find(handle, "nvmlDeviceGetHandleByIndex_v2") &&
           find(name, "nvmlDeviceGetName") && find(utilisation, "nvmlDeviceGetUtilizationRates") &&
           find(memory, "nvmlDeviceGetMemoryInfo") && find(power, "nvmlDeviceGetPowerUsage") &&
           find(temperature, "nvmlDeviceGetTemperature");
  }
};

std::unique_ptr<Nvml> Nvml::load(const std::string& library) {
  auto functions = std::make_unique<Functions>();
  functions->library = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (functions->library == nullptr || !functions->find_all()) return nullptr;
  if (functions->init() != kSuccess) return nullptr;
  auto nvml = std::unique_ptr<Nvml>(new Nvml(std::move(functions)));
  return nvml->devices_.empty() ? nullptr : std::move(nvml);
}

Nvml::Nvml(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {
  unsigned int devices = 0;
  if (functions_->count(&devices) != kSuccess) return;
  for (unsigned int i = 0; i < devices; ++i) {
    void* device = nullptr;
    if (functions_->handle(i, &device) == kSuccess) devices_.push_back(device);
  }
}

Nvml::~Nvml() {
  functions_->shutdown();
}

std::vector<GpuSample> Nvml::sample() const {
  std::vector<GpuSample> samples;
  for (void* device : devices_) {
    GpuSample& gpu = samples.emplace_back();
    std::array<char, 96> name{};
    if (functions_->name(device, name.data(), name.size() - 1) == kSuccess) gpu.name = name.data();
    if (Utilisation use{}; functions_->utilisation(device, &use) == kSuccess) {
      gpu.utilisation = use.gpu / 100.0;
    }
    if (Memory memory{}; functions_->memory(device, &memory) == kSuccess) {
      gpu.memory_used_bytes = static_cast<double>(memory.used);
      gpu.memory_total_bytes = static_cast<double>(memory.total);
    }
    if (unsigned int power = 0; functions_->power(device, &power) == kSuccess) {
      gpu.power_watts = power / 1000.0;
    }
    if (unsigned int heat = 0; functions_->temperature(device, kOfTheChip, &heat) == kSuccess) {
      gpu.temperature_celsius = heat;
    }
  }
  return samples;
}

}  // namespace tandem
