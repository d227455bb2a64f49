// local_news: mode local: what a host tells all others with every fragment of its weights.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"

namespace tandem {

struct HostNews {
  std::int64_t step = 0;    // after which it left
  bool stop = false;        // a worker got a signal
  bool diverged = false;    // its training did
  double seconds = 0;       // of training, by the host's clock
  std::int64_t replan = 0;  // the first host's wish: steps between exchanges from now on; 0: none
};

// For a checkpoint, of all hosts. What ended the run is over when it goes on.
Json news_json(const std::vector<HostNews>& news);
// What is not of that many hosts is a UserError.
std::vector<HostNews> news_from(const Json& json, int hosts);

}  // namespace tandem
