#include "cluster/meeting_place.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"

namespace tandem {
namespace {

constexpr const char* kPmixKey = "tandem.meeting";
constexpr const char* kThisHostOnly = "127.0.0.1";

std::vector<int> ports_of(const LaunchInfo& info) {
  std::vector<int> ports{info.port};
  if (!info.port_shared) return ports;
  for (int i = 1; i < kSharedPorts; ++i) ports.push_back(info.port + i);
  return ports;
}

// Whoever reaches the port can compute a guessable token, so nobody but this host may reach it,
// whatever MASTER_ADDR says. Rank 0 and the others come to the same answer, each by itself.
bool loopback_only(const LaunchInfo& info, const JobToken& token) {
  return info.one_host() && (info.meeting.empty() || token.guessable);
}

// Where rank 0 is to listen, before ports.
std::vector<std::string> addresses_to_open(const LaunchInfo& info, const JobToken& token,
                                           const std::vector<NetworkInterface>& candidates,
                                           const std::vector<NetworkInterface>& all,
                                           const std::string& host) {
  if (loopback_only(info, token)) return {kThisHostOnly};
  std::vector<std::string> addresses;
  if (!info.meeting.empty()) {
    const std::vector<std::string> found = resolve(info.meeting);
    if (found.empty()) {
      throw UserError(
          format("MASTER_ADDR: the name \"{}\" is not known on {}", info.meeting, host));
    }
    for (const std::string& address : found) {
      // A name of the own host that leads to loopback (as Debian's /etc/hosts has it) is of no use
      // to other hosts; a loopback address that was given as such is meant.
      if (is_loopback(address) && address != info.meeting && !info.one_host()) continue;
      const bool ours = is_loopback(address) || std::ranges::any_of(all, [&](const auto& i) {
                          return i.address == address;
                        });
      if (ours) return {address};
    }
    const bool own_name = std::ranges::all_of(found, is_loopback);
    if (!own_name) {
      throw UserError(format("MASTER_ADDR={} is no address of {}, where rank 0 runs; {} has {}",
                             info.meeting, host, host, list_text(all)));
    }
    addresses.push_back(found.front());  // there this host's own workers call
  }
  for (const NetworkInterface& interface : candidates) addresses.push_back(interface.address);
  return addresses;
}

std::vector<ListeningSocket> open_sockets(const LaunchInfo& info,
                                          const std::vector<std::string>& addresses,
                                          const std::string& host) {
  std::string problem = "it has no usable address";
  for (const int port : ports_of(info)) {
    std::vector<ListeningSocket> sockets;
    for (const std::string& address : addresses) {
      if (auto socket = listen_at({address, port}, problem)) sockets.push_back(std::move(*socket));
    }
    if (!sockets.empty() && (port == 0 || sockets.size() == addresses.size())) return sockets;
  }
  const std::string where = info.port == 0 ? "" : format(" on port {}", info.port);
  throw EnvError(format("rank 0 cannot listen at {} of {}{}: {}{}", join(addresses, ", "), host,
                        where, problem, info.port == 0 ? "" : "; choose another MASTER_PORT"));
}

std::string announcement(const MeetingPlace& place) {
  Json endpoints = Json::array();
  for (const Endpoint& endpoint : place.endpoints) {
    endpoints.push(Json::object().set("address", endpoint.address).set("port", endpoint.port));
  }
  return Json::object()
      .set("token", to_hex(place.token.bytes))
      .set("endpoints", std::move(endpoints))
      .dump();
}

MeetingPlace from_announcement(const std::string& text) {
  const Json json = Json::parse(text, "rank 0's announcement by PMIx");
  MeetingPlace place;
  place.token.bytes = from_hex(json.at("token").as_string());
  if (place.token.bytes.size() != kTokenBytes) throw EnvError("PMIx brought a damaged job token");
  for (const Json& endpoint : json.at("endpoints").items()) {
    place.endpoints.push_back(
        {endpoint.at("address").as_string(), static_cast<int>(endpoint.at("port").as_int())});
  }
  return place;
}

}  // namespace

MeetingPlace open_place(const LaunchInfo& info, const std::vector<NetworkInterface>& candidates,
                        const std::vector<NetworkInterface>& all, const std::string& host,
                        PmixClient* pmix) {
  MeetingPlace place;
  place.token = info.pmix ? random_token() : token_of(info);
  if (info.listen_fd >= 0) {
    place.sockets.push_back(inherited_socket(info.listen_fd));
  } else {
    place.sockets =
        open_sockets(info, addresses_to_open(info, place.token, candidates, all, host), host);
  }
  for (const ListeningSocket& socket : place.sockets) place.endpoints.push_back(socket.at);
  if (info.pmix) {
    check(pmix != nullptr, "a meeting by PMIx without it");
    pmix->publish(kPmixKey, announcement(place));
  }
  return place;
}

MeetingPlace find_place(const LaunchInfo& info, PmixClient* pmix, std::chrono::seconds timeout) {
  if (info.pmix) {
    check(pmix != nullptr, "a meeting by PMIx without it");
    const auto text = pmix->fetch(0, kPmixKey, timeout);
    if (!text) {
      throw EnvError(format("rank 0 has not told its address by PMIx within {} s; its log says why",
                            timeout.count()));
    }
    return from_announcement(*text);
  }
  MeetingPlace place;
  place.token = token_of(info);
  const std::vector<std::string> addresses = loopback_only(info, place.token)
                                                 ? std::vector<std::string>{kThisHostOnly}
                                                 : resolve(info.meeting);
  if (addresses.empty()) {
    throw UserError(format("MASTER_ADDR: the name \"{}\" is not known here", info.meeting));
  }
  for (const std::string& address : addresses) {
    for (const int port : ports_of(info)) place.endpoints.push_back({address, port});
  }
  return place;
}

}  // namespace tandem
