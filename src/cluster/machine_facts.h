// machine_facts: what a worker has under it: cores, memory, disk, limits, interfaces, and what of
// it is likely to hurt. Reading is an edge; judging is pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/interfaces.h"

namespace tandem {

struct MachineFacts {
  std::string host, kernel, cpu;
  int cores = 0;  // that this process may use
  std::int64_t memory_bytes = 0, memory_free_bytes = 0;
  std::int64_t disk_free_bytes = 0;           // where it was started
  std::int64_t shared_memory_free_bytes = 0;  // /dev/shm
  std::int64_t open_files = 0;                // -1: no limit; like the next one
  std::int64_t locked_bytes = 0;
  std::vector<NetworkInterface> interfaces;
};

// A line of proc/meminfo, "MemAvailable"; 0 where there is none.
std::int64_t meminfo_bytes(const std::filesystem::path& proc, const std::string& line);

MachineFacts machine_facts(const std::filesystem::path& folder);

// Sentences: what is short, what it breaks, what to do.
std::vector<std::string> machine_warnings(const MachineFacts& facts);

std::string to_text(const MachineFacts& facts);
Json to_json(const MachineFacts& facts);

}  // namespace tandem
