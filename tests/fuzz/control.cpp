// The control channel between workers: strangers' greetings, frames, and messages of callers who
// know the token to the services of rank 0.
#include <sys/socket.h>

#include "base/error.h"
#include "cluster/folder_offer.h"
#include "cluster/handshake.h"
#include "cluster/heartbeat.h"
#include "cluster/heartbeat_protocol.h"
#include "cluster/journal_home.h"
#include "cluster/journal_protocol.h"
#include "cluster/link_probe_analysis.h"
#include "cluster/network_store.h"
#include "cluster/store_protocol.h"
#include "cluster/wire.h"
#include "cluster/worker_card.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

enum class Door : char {
  stranger = 's',
  frame = 'f',
  store = 'k',
  heartbeat = 'h',
  journal = 'j',
  offer = 'o',
  card = 'c',
  world = 'w',
  link = 'l'
};

class NoPeers final : public HubPeers {
 public:
  void send(std::int64_t, std::string_view) override {}
  void close(std::int64_t) override {}
};

// Messages of three callers, in turn: rank and length in a byte each, or two for the length.
void talk_to(HubService& service, std::string_view messages) {
  NoPeers peers;
  std::vector<Peer> callers;
  for (int rank = 0; rank < 3; ++rank) {
    callers.push_back({rank + 1, {Purpose::store, rank, 3}, "127.0.0.1:1"});
    service.opened(callers.back(), peers);
  }
  WireReader reader(messages);
  while (reader.ok() && !reader.complete()) {
    const std::size_t rank = reader.u8() % callers.size();
    service.received(callers[rank], reader.raw(reader.u8()), peers);
    service.tick(std::chrono::steady_clock::now(), peers);
  }
  for (const Peer& peer : callers) service.closed(peer, peers);
}

void read_any_frame(std::string_view bytes) {
  int ends[2] = {-1, -1};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0,
        "no sockets");
  const FileDescriptor reading(ends[0]);
  {
    const FileDescriptor writing(ends[1]);
    const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    write_all(writing.get(), bytes.substr(0, 100'000), soon);
  }
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::string message;
  while (read_frame(reading.get(), message, soon) == Transfer::done) {
    check(message.size() <= bytes.size(), "a frame is longer than what was sent");
  }
}

void open_any_door(std::string_view input) {
  if (input.empty()) throw UserError("nothing");
  const std::string_view rest = input.substr(1);
  switch (static_cast<Door>(input[0])) {
    case Door::stranger:
      check(!read_answer(std::string(32, 't'), std::string(kNonceBytes, 'n'), rest),
            "a stranger got in");
      return;
    case Door::frame:
      return read_any_frame(rest);
    case Door::store: {
      StoreService store;
      return talk_to(store, rest);
    }
    case Door::heartbeat: {
      HeartbeatService heartbeat({}, [](const std::string&) {});
      return talk_to(heartbeat, rest);
    }
    case Door::journal: {
      JournalHome journal;
      return talk_to(journal, rest);
    }
    case Door::offer: {
      const auto offer = offer_from(rest);
      if (!offer) throw UserError("no offer");
      check(to_message(*offer) == rest, "an offer does not read back");
      offer->bytes();
      return;
    }
    case Door::card: {
      const WorkerCard card = worker_card(std::string(rest));
      check(world_of({card, card}).workers.size() == 2, "a worker is missing");
      return;
    }
    case Door::world: {
      world_from(Json::parse(rest, "x"), 0);
      return;
    }
    case Door::link:
      link_from_json(Json::parse(rest, "x"));
      return;
  }
  throw UserError("no such door");
}

std::string to_service(Door door, const std::vector<std::string>& messages) {
  WireWriter out;
  out.u8(static_cast<std::uint8_t>(door));
  std::uint8_t rank = 0;
  for (const std::string& message : messages) {
    out.u8(rank++).u8(static_cast<std::uint8_t>(message.size())).raw(message);
  }
  return out.take();
}

std::string store_request(StoreOperation operation, std::string_view key,
                          std::string_view more = {}) {
  return WireWriter().u8(static_cast<std::uint8_t>(operation)).text(key).raw(more).take();
}

std::string beat_message(BeatKind kind, std::string_view text) {
  return WireWriter().u8(static_cast<std::uint8_t>(kind)).raw(text).take();
}

std::vector<std::string> control_seeds() {
  const auto with = [](Door door, std::string_view rest) {
    return std::string(1, static_cast<char>(door)) + std::string(rest);
  };
  const std::string number = WireWriter().i64(5).take(), text = WireWriter().text("value").take();
  World world;
  world.workers = {{"a", "10.0.0.1", 7, 0, 0}, {"b", "10.0.0.2", 8, 1, 0}};
  return {with(Door::stranger, std::string(kAnswerBytes, 'x')),
          with(Door::frame, framed("hello") + framed("") + framed("again")),
          to_service(Door::store, {store_request(StoreOperation::set, "k", text),
                                   store_request(StoreOperation::get, "k", number),
                                   store_request(StoreOperation::get, "l", number),
                                   store_request(StoreOperation::add, "n", number),
                                   store_request(StoreOperation::has, "k"),
                                   store_request(StoreOperation::erase, "k")}),
          to_service(Door::heartbeat,
                     {beat_message(BeatKind::hello, text), beat_message(BeatKind::hello, text),
                      beat_message(BeatKind::beat, number + text + number + "\1" + number + number),
                      beat_message(BeatKind::goodbye, ""), beat_message(BeatKind::failure, text)}),
          to_service(Door::journal, {journal_message(JournalKind::have).i64(3).text("00").take(),
                                     journal_message(JournalKind::got).i64(3).take(),
                                     journal_message(JournalKind::record).text("{}").take()}),
          with(Door::offer, to_message({FolderKind::checkpoint,
                                        5,
                                        {{"model.safetensors", 100, 77}, {"state.json", 0, 1}}})),
          with(Door::card, to_text(WorkerCard{"host", "key", 5, ""})),
          with(Door::world, to_text(world)),
          with(Door::link, link_json(LinkMeasure{}).dump())};
}

const FuzzTarget kControlTarget{"control", open_any_door, control_seeds, 10000};

}  // namespace
}  // namespace tandem
