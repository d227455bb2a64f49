// cost_config: what the machines cost, for the report.
#pragma once

#include <optional>
#include <string>

#include "config/option.h"

namespace tandem {

struct CostConfig {
  std::optional<double> per_host_hour;
  std::string currency = "USD";
};

template <class Visitor>
void describe(Visitor&& option, CostConfig& c) {
  option("per_host_hour", c.per_host_hour, at_least(0), "currency/h",
         "price of one host for an hour; null: the report says nothing about cost");
  option("currency", c.currency, "the currency of that price");
}

}  // namespace tandem
