// worker_card: what every worker tells rank 0 about itself when it joins, and the hosts that follow
// from all cards.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/interfaces.h"
#include "cluster/world.h"

namespace tandem {

struct WorkerCard {
  std::string host;      // its name
  std::string host_key;  // equal on workers of one host
  std::int64_t pid = 0;
  std::string problem;  // a sentence, when the worker cannot take part
};

std::string to_text(const WorkerCard& card);
WorkerCard worker_card(const std::string& text);

// Numbers hosts by their lowest rank and workers inside them. Two hosts with one name are told
// apart by a number: "node", "node-2". Addresses are still missing.
World world_of(const std::vector<WorkerCard>& cards);

// The world as text, the same for all ranks; interface and reason are this run's choice.
std::string to_text(const World& world);
World world_from(const Json& json, int rank);

}  // namespace tandem
