// cluster_config: how the workers find each other and what they exchange.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/option.h"

namespace tandem {

enum class ExchangeMode { automatic, exact, int8, int4, local };
constexpr std::array<std::string_view, 5> names_of(ExchangeMode) {
  return {"auto", "exact", "int8", "int4", "local"};
}

enum class Wire { bf16, fp32 };
constexpr std::array<std::string_view, 2> names_of(Wire) {
  return {"bf16", "fp32"};
}

struct ClusterConfig {
  ExchangeMode mode = ExchangeMode::automatic;
  Wire wire = Wire::bf16;
  std::optional<std::int64_t> local_steps;
  std::optional<std::string> interface;
  std::optional<double> require;
  double join_timeout = 120.0;
  double timeout = 8.0;
  std::int64_t restarts = 3;
  std::int64_t check_every = 500;
};

template <class Visitor>
void describe(Visitor&& option, ClusterConfig& c) {
  option("mode", c.mode,
         "what hosts exchange: gradients (exact, int8, int4), weight changes now and then (local)");
  option("wire", c.wire, "number format of gradients between hosts in mode exact");
  option("local_steps", c.local_steps, between(1, 10000), "steps",
         "mode local: steps between two exchanges of a weight; null: from the measured link");
  option("interface", c.interface,
         "network interface between the hosts, such as eth0; null: the one that leads to rank 0");
  option("require", c.require, above(0), "x",
         "least predicted speed-up over one host; below it the run is refused; null: any");
  option("join_timeout", c.join_timeout, above(0), "s",
         "how long the start waits for all workers before it names the missing ones");
  option("timeout", c.timeout, above(0), "s",
         "a worker without a sign of life for so long is given up by name");
  option("restarts", c.restarts, at_least(0), "restarts",
         "attempts after a failure without a new checkpoint in between, then the run gives up");
  option("check_every", c.check_every, at_least(0), "steps",
         "steps between two comparisons of all workers' weights by hash; 0: only at the start");
}

}  // namespace tandem
