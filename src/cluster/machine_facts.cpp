#include "cluster/machine_facts.h"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>

#include "base/cores.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::int64_t kMB = 1'000'000, kGB = 1000 * kMB;

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::int64_t free_bytes(const std::filesystem::path& folder) {
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  return failed ? 0 : static_cast<std::int64_t>(space.available);
}

std::int64_t limit_of(__rlimit_resource which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit.rlim_cur);
}

std::string limit_text(std::int64_t limit) {
  return limit < 0 ? "no limit" : format("{}", limit);
}

std::string memory_limit_text(std::int64_t limit) {  // in the unit of `ulimit -l`
  return limit < 0 ? "no limit" : format("{} KiB", limit / 1024);
}

std::string interface_line(const NetworkInterface& interface) {
  const std::string speed = interface.mbps > 0 ? format(", {} Mbps", interface.mbps) : "";
  return format("interface     {} ({}{}){}{}\n", interface.name, interface.address, speed,
                interface.up ? "" : ", down",
                interface.loopback ? ", this host only"
                : is_container_network(interface.name)
                    ? ", of containers: used when there is no other"
                    : "");
}

}  // namespace

std::int64_t meminfo_bytes(const std::filesystem::path& proc, const std::string& line) {
  std::ifstream file(proc / "meminfo");
  std::string name, rest;
  std::int64_t kilobytes = 0;
  while (file >> name >> kilobytes && std::getline(file, rest)) {
    if (name == line + ":") return kilobytes * 1024;
  }
  return 0;
}

MachineFacts machine_facts(const std::filesystem::path& folder) {
  utsname names{};
  ::uname(&names);
  MachineFacts facts;
  facts.host = names.nodename;
  facts.kernel = format("{} {}", names.sysname, names.release);
  facts.cpu = cpu_name();
  facts.cores = usable_cores();
  facts.memory_bytes = meminfo_bytes("/proc", "MemTotal");
  facts.memory_free_bytes = meminfo_bytes("/proc", "MemAvailable");
  facts.disk_free_bytes = free_bytes(folder);
  facts.shared_memory_free_bytes = free_bytes("/dev/shm");
  facts.open_files = limit_of(RLIMIT_NOFILE);
  facts.locked_bytes = limit_of(RLIMIT_MEMLOCK);
  facts.interfaces = list_interfaces();
  return facts;
}

std::vector<std::string> machine_warnings(const MachineFacts& facts) {
  std::vector<std::string> warnings;
  if (facts.open_files >= 0 && facts.open_files < 1024) {
    warnings.push_back(
        format("only {} files may be open; raise it (ulimit -n 4096) for runs of "
               "many workers",
               facts.open_files));
  }
  if (facts.disk_free_bytes < 2 * kGB) {
    warnings.push_back(
        format("{:.1f} GB of disk are free here; a checkpoint of the base model "
               "takes 0.8 GB and several are kept",
               static_cast<double>(facts.disk_free_bytes) / kGB));
  }
  if (facts.memory_free_bytes < kGB) {
    warnings.push_back(format("{:.1f} GB of memory are free; the base model alone needs 1 GB",
                              static_cast<double>(facts.memory_free_bytes) / kGB));
  }
  if (facts.shared_memory_free_bytes < 64 * kMB) {
    warnings.push_back(
        format("/dev/shm has {} MB free; workers of one host exchange through it, "
               "so enlarge it (containers: --shm-size=1g)",
               facts.shared_memory_free_bytes / kMB));
  }
  std::string problem;
  if (usable_interfaces(facts.interfaces, {}, facts.host, problem).empty()) {
    warnings.push_back(problem + "; runs are limited to this host");
  }
  return warnings;
}

std::string to_text(const MachineFacts& facts) {
  const auto gb = [](std::int64_t bytes) { return static_cast<double>(bytes) / kGB; };
  std::string text = format("host          {}, {}\n", facts.host, facts.kernel);
  text += format("processor     {}, {} cores usable\n", facts.cpu, facts.cores);
  text += format("memory        {:.1f} GB, {:.1f} GB free\n", gb(facts.memory_bytes),
                 gb(facts.memory_free_bytes));
  text += format("disk          {:.1f} GB free here, {:.1f} GB in /dev/shm\n",
                 gb(facts.disk_free_bytes), gb(facts.shared_memory_free_bytes));
  text += format("limits        open files: {}; locked memory: {}\n", limit_text(facts.open_files),
                 memory_limit_text(facts.locked_bytes));
  for (const NetworkInterface& interface : facts.interfaces) text += interface_line(interface);
  return text;
}

Json to_json(const MachineFacts& facts) {
  Json interfaces = Json::array();
  for (const NetworkInterface& interface : facts.interfaces) {
    interfaces.push(Json::object()
                        .set("name", interface.name)
                        .set("address", interface.address)
                        .set("up", interface.up)
                        .set("loopback", interface.loopback)
                        .set("mbps", interface.mbps > 0 ? Json(interface.mbps) : Json()));
  }
  return Json::object()
      .set("host", facts.host)
      .set("kernel", facts.kernel)
      .set("cpu", facts.cpu)
      .set("cores", facts.cores)
      .set("memory_bytes", facts.memory_bytes)
      .set("memory_free_bytes", facts.memory_free_bytes)
      .set("disk_free_bytes", facts.disk_free_bytes)
      .set("shared_memory_free_bytes", facts.shared_memory_free_bytes)
      .set("open_files", facts.open_files)
      .set("locked_bytes", facts.locked_bytes)
      .set("interfaces", std::move(interfaces));
}

}  // namespace tandem
