#include "cluster/link_table_measure.h"

#include <chrono>

#include "base/error.h"
#include "base/format.h"
#include "cluster/link_probe_socket.h"

namespace tandem {
namespace {

// One pair of one round, as one of its two leaders sees it.
struct PairProbe {
  const World& world;
  Store& store;
  const LinkSurvey& survey;
  ProbeTiming timing;
  HostPair pair;

  const Worker& leader(int host) const {
    return world.workers.at(static_cast<std::size_t>(world.leader_of(host)));
  }
  std::string key(const char* what) const {
    return format("{}/{}-{}/{}", survey.name, pair.opening, pair.answering, what);
  }
  std::chrono::milliseconds limit() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(survey.limit_seconds * 1e3));
  }

  void answer() const {
    const ProbeListener listener(leader(pair.answering).address);
    const ProbeSecrets secrets = new_probe_secrets();
    store.set(key("door"), Json::object()
                               .set("port", listener.port())
                               .set("opening", secrets.opening)
                               .set("answering", secrets.answering)
                               .dump());
    const std::string peer = leader(pair.opening).host;
    const FileDescriptor socket = listener.accept(secrets, survey.limit_seconds, peer);
    probe_link(socket.get(), ProbeSide::answering, timing, peer);
  }

  LinkMeasure open() const {
    const Json door = Json::parse(store.get(key("door"), limit()), key("door"));
    const Worker& other = leader(pair.answering);
    const FileDescriptor socket = connect_probe(
        leader(pair.opening).address, other.address, static_cast<int>(door.at("port").as_int()),
        {door.at("opening").as_string(), door.at("answering").as_string()}, survey.limit_seconds,
        other.host);
    return probe_link(socket.get(), ProbeSide::opening, timing, other.host);
  }

  // The opening side tells everybody how it went, so the error of a dead link is one, not many.
  void open_and_tell() const {
    Json result = Json::object();
    try {
      result.set("link", link_json(open()));
    } catch (const EnvError& error) {
      result.set("error", error.what());
    }
    store.set(key("result"), result.dump());
  }
  void answer_and_leave_telling() const {
    try {
      answer();
    } catch (const EnvError& error) {
      store.set(key("answering-error"), error.what());
    }
  }

  LinkRow result() const {
    const auto patience = 3 * limit();
    const Json told = Json::parse(store.get(key("result"), patience), key("result"));
    const Worker& opening = leader(pair.opening);
    const Worker& answering = leader(pair.answering);
    if (const Json* error = told.find("error")) {
      std::string why = error->as_string();
      if (store.has(key("answering-error"))) {
        why += format(" ({} says: {})", answering.host, store.get(key("answering-error"), limit()));
      }
      throw EnvError(format("the link between {} and {} cannot be measured: {}", opening.host,
                            answering.host, why));
    }
    return {pair, opening.host, answering.host, link_from_json(told.at("link"))};
  }
};

}  // namespace

LinkTable measure_links(const World& world, Store& store, const LinkSurvey& survey) {
  const auto rounds = probe_rounds(world.hosts());
  const int self = world.self().host_index;
  ProbeTiming timing;
  if (!rounds.empty())
    timing = timing.scaled_to(survey.seconds / static_cast<double>(rounds.size()));
  timing.limit_seconds = survey.limit_seconds;
  const auto probe = [&](const HostPair& pair) {
    return PairProbe{world, store, survey, timing, pair};
  };

  for (const auto& round : rounds) {
    for (const HostPair& pair : round) {
      if (!world.is_leader()) continue;
      if (pair.answering == self) probe(pair).answer_and_leave_telling();
      if (pair.opening == self) probe(pair).open_and_tell();
    }
  }
  LinkTable table;
  for (const auto& round : rounds) {
    for (const HostPair& pair : round) table.push_back(probe(pair).result());
  }
  return table;
}

}  // namespace tandem
