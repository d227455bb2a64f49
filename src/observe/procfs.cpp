#include "observe/procfs.h"

#include <charconv>
#include <vector>

namespace tandem {
namespace {

// The line's words; views into it.
std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  constexpr std::string_view kSpace = " \t\n";
  for (std::size_t begin = line.find_first_not_of(kSpace); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    out.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpace, end);
  }
  return out;
}

double number(std::string_view word) {
  double value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

template <class Visit>
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

CpuTicks cpu_ticks(std::string_view proc_stat) {
  CpuTicks ticks;
  each_line(proc_stat, [&](std::string_view line) {
    if (!line.starts_with("cpu ")) return;
    const auto fields = words(line);  // cpu user nice system idle iowait irq softirq steal guest...
    for (std::size_t i = 1; i < fields.size() && i <= 8; ++i) {
      const bool idle = i == 4 || i == 5;
      ticks.total += number(fields[i]);
      if (!idle) ticks.busy += number(fields[i]);
    }
  });
  return ticks;
}

double process_ticks(std::string_view proc_pid_stat) {
  // pid (name) state ...: the name may hold anything, so counting begins behind its last bracket.
  const std::size_t name_end = proc_pid_stat.rfind(')');
  if (name_end == proc_pid_stat.npos) return 0;
  const auto fields = words(proc_pid_stat.substr(name_end + 1));
  constexpr std::size_t kUser = 11, kSystem = 12;
  return fields.size() > kSystem ? number(fields[kUser]) + number(fields[kSystem]) : 0;
}

MemoryBytes memory_bytes(std::string_view proc_meminfo) {
  double total = 0, available = 0;
  each_line(proc_meminfo, [&](std::string_view line) {
    const auto fields = words(line);
    if (fields.size() < 2) return;
    if (fields[0] == "MemTotal:") total = number(fields[1]) * 1024;
    if (fields[0] == "MemAvailable:") available = number(fields[1]) * 1024;
  });
  return {std::max(0.0, total - available), total};
}

std::map<std::string, NetBytes, std::less<>> net_bytes(std::string_view proc_net_dev) {
  std::map<std::string, NetBytes, std::less<>> found;
  each_line(proc_net_dev, [&](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return;  // the two lines of headings
    const auto name = words(line.substr(0, colon));
    const auto fields = words(line.substr(colon + 1));
    if (name.size() == 1 && fields.size() >= 9) {
      found[std::string(name[0])] = {number(fields[0]), number(fields[8])};
    }
  });
  return found;
}

std::string default_interface(std::string_view proc_net_route) {
  std::string found;
  each_line(proc_net_route, [&](std::string_view line) {
    const auto fields = words(line);
    if (found.empty() && fields.size() > 2 && fields[1] == "00000000") found = fields[0];
  });
  return found;
}

std::optional<double> link_bits_per_s(std::string_view sys_class_net_speed) {
  const auto fields = words(sys_class_net_speed);
  const double megabits = fields.empty() ? 0 : number(fields[0]);
  if (megabits <= 0) return {};
  return megabits * 1e6;
}

}  // namespace tandem
