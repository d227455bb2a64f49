// log_config: what is printed while training. The journal has every step anyway.
#pragma once

#include <cstdint>

#include "config/option.h"

namespace tandem {

struct LogConfig {
  std::int64_t every = 100;
};

template <class Visitor>
void describe(Visitor&& option, LogConfig& c) {
  option("every", c.every, at_least(1), "steps",
         "steps between printed losses; the journal has every step");
}

}  // namespace tandem
