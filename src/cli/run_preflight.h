// run_preflight: the preflight of a run, with what this program brings to it: its model, its
// dataset, its exchange. For `tandem check`, and for the start of a training that spans hosts.
#pragma once

#include <optional>
#include <string>

#include "cli/run_setup.h"
#include "cluster/comm.h"
#include "cluster/exchange_choice.h"
#include "cluster/preflight.h"
#include "config/run_config.h"
#include "model/transformer.h"

namespace tandem {

// Of one worker; all of it outlives the call.
struct PreflightParts {
  const RunConfig& config;
  const World& world;
  Store& store;
  std::string interface;          // that leads to the other hosts; "": there are none
  Comm* comm = nullptr;           // none: one worker
  const Dataset* data = nullptr;  // none: this host lacks it, which the others shall hear
  Transformer* model = nullptr;   // none where there is no dataset
  // Of a run that goes on: the exchange that it keeps.
  std::optional<ExchangeChoice> kept = {};
};

// Every worker calls it at the same point. It changes nothing in the model.
PreflightReport run_preflight(const PreflightParts& parts);

}  // namespace tandem
