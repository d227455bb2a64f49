// serve_metrics: what a server counts, as Prometheus reads it. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tandem {

class ServeMetrics {
 public:
  void visit(int status, double seconds);
  void sentence(std::size_t source_tokens, std::size_t target_tokens);
  // Sentences in the queue, and those that are being translated, now.
  std::string text(std::size_t waiting, std::size_t running) const;

 private:
  static constexpr std::array<double, 10> kBounds{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> requests_;  // by status
  std::array<std::uint64_t, kBounds.size() + 1> by_seconds_{};
  double request_seconds_ = 0;
  std::uint64_t sentences_ = 0, source_tokens_ = 0, target_tokens_ = 0;
};

}  // namespace tandem
