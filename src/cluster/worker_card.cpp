#include "cluster/worker_card.h"

#include <map>
#include <set>

#include "base/format.h"

namespace tandem {
namespace {

int as_small(const Json& json) {
  return static_cast<int>(json.as_int());
}

std::string new_name(const std::string& name, std::set<std::string>& taken) {
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = format("{}-{}", name, i);
  return unique;
}

}  // namespace

std::string to_text(const WorkerCard& card) {
  return Json::object()
      .set("host", card.host)
      .set("host_key", card.host_key)
      .set("pid", card.pid)
      .set("problem", card.problem)
      .dump();
}

WorkerCard worker_card(const std::string& text) {
  const Json json = Json::parse(text, "a worker's card");
  return {json.at("host").as_string(), json.at("host_key").as_string(), json.at("pid").as_int(),
          json.at("problem").as_string()};
}

World world_of(const std::vector<WorkerCard>& cards) {
  struct Host {
    int index = 0, workers = 0;
    std::string name;
  };
  std::map<std::string, Host> hosts;
  std::set<std::string> names;
  World world;
  for (const WorkerCard& card : cards) {
    auto [at, is_new] = hosts.try_emplace(card.host_key);
    Host& host = at->second;
    if (is_new) {
      host.index = static_cast<int>(hosts.size()) - 1;
      host.name = new_name(card.host, names);
    }
    world.workers.push_back({host.name, "", card.pid, host.index, host.workers++});
  }
  return world;
}

std::string to_text(const World& world) {
  Json workers = Json::array();
  for (const Worker& worker : world.workers) {
    workers.push(Json::object()
                     .set("host", worker.host)
                     .set("address", worker.address)
                     .set("pid", worker.pid)
                     .set("host_index", worker.host_index)
                     .set("local_rank", worker.local_rank));
  }
  return Json::object().set("workers", std::move(workers)).dump();
}

World world_from(const Json& json, int rank) {
  World world;
  world.rank = rank;
  for (const Json& worker : json.at("workers").items()) {
    world.workers.push_back({worker.at("host").as_string(), worker.at("address").as_string(),
                             worker.at("pid").as_int(), as_small(worker.at("host_index")),
                             as_small(worker.at("local_rank"))});
  }
  return world;
}

}  // namespace tandem
