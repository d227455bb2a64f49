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

enum class LocalCode { automatic, int8, int4 };
constexpr std::array<std::string_view, 3> names_of(LocalCode) {
  return {"auto", "int8", "int4"};
}

struct ClusterConfig {
  ExchangeMode mode = ExchangeMode::automatic;
  Wire wire = Wire::bf16;
  std::optional<std::int64_t> local_steps, local_delay;
  LocalCode local_code = LocalCode::automatic;
  std::optional<double> local_rate, local_momentum;
  double local_timeout = 120.0;
  std::optional<std::string> interface;
  std::optional<double> require;
  double join_timeout = 120.0;
  double timeout = 7.0;
  double stuck_timeout = 60.0;
  std::int64_t restarts = 3;
  std::int64_t check_every = 500;
};

// Up to 30 days.
constexpr Limits kWaitLimits = {.least = 0, .most = 30 * 86400.0, .least_itself = false};

template <class Visitor>
void describe(Visitor&& option, ClusterConfig& c) {
  option("mode", c.mode,
         "what hosts exchange: gradients (exact, int8, int4), weights (local); auto: by the links");
  option("wire", c.wire, "number format of gradients between hosts in mode exact");
  option("local_steps", c.local_steps, between(1, 10000), "steps",
         "mode local: steps between two exchanges of a weight; null: from the measured link");
  option("local_delay", c.local_delay, between(1, 10000), "steps",
         "mode local: steps that an exchange may take; null: enough for a busy link");
  option("local_code", c.local_code,
         "mode local: numbers of weight changes; auto: int8 where exchanges are frequent");
  option("local_rate", c.local_rate, above(0), "x",
         "mode local: factor of the learning rate and optim.clip; null: square root of the hosts");
  option("local_momentum", c.local_momentum, fraction(), "",
         "mode local: momentum of what hosts have in common; null: by hosts, 0 below four");
  option("local_timeout", c.local_timeout, kWaitLimits, "s",
         "mode local: a host that cannot be reached is waited for so long, then given up by name");
  option(
      "interface", c.interface,
      "network interfaces between the hosts, such as eth0; null: the first that all hosts reach");
  option("require", c.require, above(0), "x",
         "least predicted speed-up over one host; below it the run is refused; null: any");
  option("join_timeout", c.join_timeout, kWaitLimits, "s",
         "how long the start waits for all workers before it names the missing ones");
  option("timeout", c.timeout, between(2, 86400), "s",  // signs of life come once a second
         "a worker without a sign of life for so long is given up by name");
  option("stuck_timeout", c.stuck_timeout, kWaitLimits, "s",
         "a worker that others wait for and that gets nothing done for so long is given up");
  option("restarts", c.restarts, at_least(0), "restarts",
         "attempts after a failure without a new checkpoint in between, then the run gives up");
  option("check_every", c.check_every, at_least(0), "steps",
         "steps between two comparisons of all workers' weights by hash; 0: only at the start");
}

}  // namespace tandem
