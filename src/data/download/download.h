// download: one file over HTTP(S) to its final name, or an error that says why not. What arrived
// stays as NAME.part when the process stops or gives up, and the next call goes on from there.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tandem {

struct DownloadRequest {
  std::string url;  // http:// or https://
  std::filesystem::path target;
  std::optional<std::uint64_t> bytes;  // what the file must have; more is never accepted
  std::string sha256;                  // what the file must have; "" when nobody knows
  std::string sha256_source;           // who says so, for the error message
};

struct DownloadOptions {
  std::int64_t retries = 8;         // in a row, each without getting further
  double first_wait_seconds = 1;    // before the first retry; doubles up to 30 s
  std::int64_t stall_seconds = 60;  // silence, or under 100 bytes a second: a dead connection
};

// Watchers of a download; they cannot steer it.
struct DownloadEvents {
  // total is 0 while it is not known.
  std::function<void(std::uint64_t bytes_at_hand, std::uint64_t total)> progress;
  std::function<void(const std::string& sentence)> trouble;  // what made an attempt fail
};

struct Download {
  std::string sha256;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_received = 0;  // by this call: less than bytes when an earlier one began
};

// Throws EnvError (server, network, disk, wrong hash: then the file is removed) and Interrupted
// when stop becomes true.
Download download(const DownloadRequest& request, const DownloadOptions& options,
                  const std::atomic<bool>& stop, const DownloadEvents& events);

}  // namespace tandem
