#include <algorithm>

#include "cluster/heartbeat.h"
#include "cluster/heartbeat_protocol.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

constexpr int kHubRank = 0;
constexpr auto kLastWord = std::chrono::seconds(1);

std::string told(BeatKind kind, std::string_view text = "") {
  WireWriter writer;
  writer.u8(static_cast<std::uint8_t>(kind));
  if (kind == BeatKind::cause || kind == BeatKind::cut_off) writer.text(text);
  return writer.take();
}

}  // namespace

HeartbeatService::HeartbeatService(const HeartbeatLimits& limits,
                                   std::function<void(const std::string&)> on_event)
    : table_(limits.timeout, limits.stuck_after),
      period_(limits.period),
      to_agree_on_stop_(limits.to_agree_on_stop),
      on_event_(std::move(on_event)) {}

// Another process that calls itself by a rank that is there is refused when it joins: until then
// nothing it says or does may pass for the first one.
void HeartbeatService::opened(const Peer& peer, HubPeers&) {
  peers_.try_emplace(peer.caller.rank, peer.id);
}

void HeartbeatService::received(const Peer& peer, std::string_view text, HubPeers& peers) {
  const auto now = std::chrono::steady_clock::now();
  const int rank = peer.caller.rank;
  const auto known = peers_.find(rank);
  if (known == peers_.end() || known->second != peer.id) return;
  WireReader reader(text);
  const auto kind = static_cast<BeatKind>(reader.u8());
  if (kind == BeatKind::hello) {
    const std::string name(reader.text());
    table_.joined(rank, name, now);
    names_[rank] = name;
    if (!own_beat_.empty()) peers.send(peer.id, own_beat_);  // who rank 0 is, before it can freeze
  } else if (kind == BeatKind::beat) {
    LifeSign sign;
    sign.step = reader.i64();
    sign.phase = std::string(reader.text());
    sign.ticks = reader.i64();
    sign.waits = reader.u8() != 0;
    const std::int64_t work_steps = reader.i64();
    const std::int64_t work_micros = reader.i64();
    if (!reader.complete()) return peers.close(peer.id);
    table_.sign(rank, now, sign);
    work_[rank] = {work_steps, static_cast<double>(work_micros) * 1e-6};
    if (rank != kHubRank) return;
    own_beat_ = WireWriter()
                    .u8(static_cast<std::uint8_t>(BeatKind::beat))
                    .text(names_[rank])
                    .i64(sign.step)
                    .text(sign.phase)
                    .take();
    send_beats(peers);
  } else if (kind == BeatKind::goodbye) {
    table_.left(rank);
  } else if (kind == BeatKind::stop) {
    if (stop_time_ == SteadyTime{}) stop_time_ = now;
    for (const auto& [other, at] : peers_) peers.send(at, told(BeatKind::stop));
  } else if (kind == BeatKind::cut_off && rank == kHubRank) {
    table_.left(rank);
    const std::string why(reader.text());
    for (const auto& [other, at] : peers_) {
      if (other != kHubRank) peers.send(at, told(BeatKind::cut_off, why));
    }
  } else if (kind == BeatKind::failure) {
    table_.left(rank);
    spread(std::string(reader.text()), peers);
  } else {
    peers.close(peer.id);
  }
}

void HeartbeatService::closed(const Peer& peer, HubPeers& peers) {
  const auto at = peers_.find(peer.caller.rank);
  if (at == peers_.end() || at->second != peer.id) return;
  peers_.erase(at);
  const std::string cause = table_.ended(peer.caller.rank);
  if (!cause.empty()) spread(cause, peers);
}

void HeartbeatService::tick(SteadyTime now, HubPeers& peers) {
  if (last_tick_ != SteadyTime{} && now - last_tick_ > 2 * period_)
    table_.forgive(now - last_tick_);
  last_tick_ = now;
  table_.be_patient(patience_);
  for (const std::string& sentence : table_.news(now)) on_event_(sentence);
  if (const std::string cause = table_.silent(now); !cause.empty()) spread(cause, peers);
  if (const std::string cause = table_.stuck(now); !cause.empty()) spread(cause, peers);
  if (!cause_.empty()) {
    // Rank 0 ends last, so that its own end is not taken for the cause.
    const bool alone =
        std::ranges::all_of(peers_, [](const auto& p) { return p.first == kHubRank; });
    if (!told_rank_0_ && (alone || now > cause_time_ + kLastWord) && peers_.contains(kHubRank)) {
      told_rank_0_ = true;
      peers.send(peers_.at(kHubRank), told(BeatKind::cause, cause_));
    }
    return;
  }
  const bool stops = stop_time_ != SteadyTime{} && now - stop_time_ > to_agree_on_stop_;
  if (stops && !told_cut_off_ && !table_.writes(kHubRank) && peers_.contains(kHubRank)) {
    const std::string unheard = table_.unheard(now);
    told_cut_off_ = !unheard.empty();
    if (told_cut_off_) peers.send(peers_.at(kHubRank), told(BeatKind::cut_off, unheard));
  }
  if (!told_all_left_ && !names_.empty() && table_.all_left()) {
    told_all_left_ = true;
    for (const auto& [rank, peer] : peers_) peers.send(peer, told(BeatKind::all_left));
  }
  if (now - last_look_ < period_) return;
  last_look_ = now;
  for (const std::string& sentence : stragglers_.look(work_, names_)) on_event_(sentence);
}

void HeartbeatService::spread(const std::string& cause, HubPeers& peers) {
  if (!cause_.empty()) return;  // the first is the cause, the rest follows from it
  cause_ = cause;
  cause_time_ = std::chrono::steady_clock::now();
  for (const auto& [rank, peer] : peers_) {
    if (rank != kHubRank) peers.send(peer, told(BeatKind::cause, cause));
  }
}

// At once, so that all know what rank 0 did last when they lose it.
void HeartbeatService::send_beats(HubPeers& peers) {
  for (const auto& [rank, peer] : peers_) peers.send(peer, own_beat_);
}

}  // namespace tandem
