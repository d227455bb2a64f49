#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "cluster/network_store.h"
#include "cluster/store_protocol.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

constexpr std::size_t kMostKeys = 131'072;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

std::string answer(StoreStatus status, std::string_view text = "") {
  return WireWriter().u8(static_cast<std::uint8_t>(status)).raw(text).take();
}

}  // namespace

void StoreService::received(const Peer& peer, std::string_view message, HubPeers& peers) {
  WireReader reader(message);
  const auto operation = static_cast<StoreOperation>(reader.u8());
  const std::string key(reader.text());
  const bool takes_number = operation == StoreOperation::get || operation == StoreOperation::add;
  const std::int64_t number = takes_number ? reader.i64() : 0;
  const std::string_view value = operation == StoreOperation::set ? reader.text() : "";
  if (!reader.complete()) return peers.close(peer.id);
  if (const std::string why = refusal(key, value); !why.empty()) {
    return peers.send(peer.id, answer(StoreStatus::refused, why));
  }
  switch (operation) {
    case StoreOperation::set:
      put(key, value, peers);
      return peers.send(peer.id, answer(StoreStatus::ok));
    case StoreOperation::get: {
      const auto at = values_.find(key);
      if (at != values_.end()) return peers.send(peer.id, answer(StoreStatus::ok, at->second));
      const std::chrono::milliseconds wait(std::clamp<std::int64_t>(number, 0, 86'400'000));
      waiting_.push_back({peer.id, key, std::chrono::steady_clock::now() + wait});
      return;
    }
    case StoreOperation::add:
      return peers.send(peer.id, answer_add(key, number, peers));
    case StoreOperation::has:
      return peers.send(peer.id, answer(StoreStatus::ok, values_.contains(key) ? "1" : "0"));
    case StoreOperation::erase:
      if (const auto at = values_.find(key); at != values_.end()) {
        bytes_ -= at->second.size();
        values_.erase(at);
      }
      return peers.send(peer.id, answer(StoreStatus::ok));
  }
  peers.close(peer.id);  // no such operation
}

std::string StoreService::refusal(std::string_view key, std::string_view value) const {
  if (key.empty() || key.size() > kMostKeyBytes) {
    return format("a key of {} bytes; 1 to {} are taken", key.size(), kMostKeyBytes);
  }
  if (value.size() > kMostValueBytes) {
    return format("a value of {} bytes for \"{}\"; at most {} are taken", value.size(), key,
                  kMostValueBytes);
  }
  if (values_.size() >= kMostKeys) return format("more than {} keys", kMostKeys);
  if (bytes_ + value.size() > kMostBytes) return format("more than {} bytes", kMostBytes);
  return "";
}

void StoreService::put(const std::string& key, std::string_view value, HubPeers& peers) {
  std::string& kept = values_[key];
  bytes_ += value.size();
  bytes_ -= kept.size();
  kept = value;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.key != key) return false;
    peers.send(waiting.peer, answer(StoreStatus::ok, kept));
    return true;
  });
}

std::string StoreService::answer_add(const std::string& key, std::int64_t amount, HubPeers& peers) {
  const auto at = values_.find(key);
  const std::string before = at == values_.end() ? "0" : at->second;
  std::int64_t value = 0, sum = 0;
  const auto [end, failed] = std::from_chars(before.data(), before.data() + before.size(), value);
  if (failed != std::errc{} || end != before.data() + before.size() ||
      __builtin_add_overflow(value, amount, &sum)) {
    return answer(StoreStatus::refused,
                  format("\"{}\" holds \"{}\", which is no counter", key, before.substr(0, 40)));
  }
  put(key, format("{}", sum), peers);
  return answer(StoreStatus::ok, format("{}", sum));
}

void StoreService::closed(const Peer& peer, HubPeers&) {
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.peer == peer.id; });
}

void StoreService::tick(SteadyTime now, HubPeers& peers) {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (now < waiting.deadline) return false;
    peers.send(waiting.peer, answer(StoreStatus::late));
    return true;
  });
}

}  // namespace tandem
