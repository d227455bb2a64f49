#include "cluster/host_probe.h"

#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/sha256.h"

namespace tandem {
namespace {

std::string offer_key(int host) {
  return format("probe/{}/offer", host);
}
std::string result_key(int host) {
  return format("probe/{}/result", host);
}

// Another for each host, so that an answer tells which host gave it.
std::string token_of_host(const std::string& token, int host) {
  return hmac_sha256(token, format("probe of host {}", host));
}

Json offer_json(const NetworkInterface& interface, int port) {
  return Json::object()
      .set("name", interface.name)
      .set("address", interface.address)
      .set("mbps", interface.mbps)
      .set("port", port);
}

NetworkInterface interface_of(const Json& json) {
  return {json.at("name").as_string(), json.at("address").as_string(), true, false,
          static_cast<int>(json.at("mbps").as_int())};
}

std::unique_ptr<Hub> offer(const ProbeTask& task, Store& store) {
  std::vector<ListeningSocket> sockets;
  Json offers = Json::array();
  for (const NetworkInterface& interface : task.candidates) {
    std::string problem;
    auto socket = listen_at({interface.address, 0}, problem);
    if (!socket) continue;  // an address that went away
    offers.push(offer_json(interface, socket->at.port));
    sockets.push_back(std::move(*socket));
  }
  HubOptions options;
  options.token = token_of_host(task.token, task.host);
  options.size = task.hosts;
  options.say = [tell = task.on_refused](const std::string& text) {
    tell("port for trying addresses: " + text);
  };
  auto hub = std::make_unique<Hub>(std::move(sockets), options, std::map<Purpose, HubService*>{});
  store.set(offer_key(task.host),
            Json::object().set("host", task.host_name).set("offers", std::move(offers)).dump());
  return hub;
}

// One problem for each address of that host; empty where it answered.
std::vector<std::string> try_host(const ProbeTask& task, int to, const Json& offers) {
  const auto& items = offers.items();
  std::vector<std::string> problems(items.size());
  {
    std::vector<std::jthread> attempts;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Endpoint endpoint{items[i].at("address").as_string(),
                              static_cast<int>(items[i].at("port").as_int())};
      attempts.emplace_back([&, i, endpoint] {
        const Caller caller{Purpose::probe, task.host, task.hosts};
        const auto deadline = std::chrono::steady_clock::now() + task.attempt;
        call(endpoint, token_of_host(task.token, to), caller, deadline, problems[i]);
      });
    }
  }
  return problems;
}

}  // namespace

std::unique_ptr<Hub> probe_hosts(const ProbeTask& task, Store& store) {
  auto hub = offer(task, store);
  Json result = Json::array();
  for (int to = 0; to < task.hosts; ++to) {
    Json problems = Json::array();
    if (to != task.host) {
      const Json offers = Json::parse(store.get(offer_key(to), task.wait), "an offer of addresses");
      for (const auto& problem : try_host(task, to, offers.at("offers"))) problems.push(problem);
    }
    result.push(std::move(problems));
  }
  store.set(result_key(task.host), result.dump());
  return hub;
}

AddressChoice gather_probes(int hosts, Store& store, std::chrono::milliseconds wait) {
  std::vector<HostOffer> offers;
  Tried tried;
  for (int host = 0; host < hosts; ++host) {
    const Json offer = Json::parse(store.get(offer_key(host), wait), "an offer of addresses");
    HostOffer& entry = offers.emplace_back();
    entry.host = offer.at("host").as_string();
    for (const Json& item : offer.at("offers").items())
      entry.candidates.push_back(interface_of(item));
    const Json result = Json::parse(store.get(result_key(host), wait), "a result of connecting");
    auto& row = tried.emplace_back();
    for (const Json& problems : result.items()) {
      auto& to = row.emplace_back();
      for (const Json& problem : problems.items()) to.push_back(problem.as_string());
    }
  }
  return choose_addresses(offers, tried);
}

}  // namespace tandem
