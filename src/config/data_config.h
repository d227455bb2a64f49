// data_config: where the training pairs come from.
#pragma once

#include <cstdint>
#include <string>

#include "config/option.h"

namespace tandem {

struct DataConfig {
  std::string path = "data";
  std::int64_t max_length = 256;
  bool distribute = false;
};

template <class Visitor>
void describe(Visitor&& option, DataConfig& c) {
  option("path", c.path, "directory of the dataset that `tandem prepare` made, on each host");
  option("max_length", c.max_length, between(2, 65536), "tokens",
         "longest training sentence, end mark included; longer pairs are left out");
  option("distribute", c.distribute,
         "send the dataset from rank 0's host to hosts that lack it; else such hosts are refused");
}

}  // namespace tandem
