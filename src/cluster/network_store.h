// network_store: the Store of a run that spans processes. Rank 0's hub keeps the values
// (StoreService); every worker, rank 0 included, reaches them by connections that `dial` opens.
// A call that waits keeps its connection; a second thread gets one of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/hub.h"
#include "cluster/store.h"

namespace tandem {

class StoreService final : public HubService {
 public:
  void received(const Peer& peer, std::string_view message, HubPeers& peers) override;
  void closed(const Peer& peer, HubPeers& peers) override;
  void tick(SteadyTime now, HubPeers& peers) override;

 private:
  struct Waiting {
    std::int64_t peer;
    std::string key;
    SteadyTime deadline;
  };
  std::string refusal(std::string_view key, std::string_view value) const;
  void put(const std::string& key, std::string_view value, HubPeers& peers);
  std::string answer_add(const std::string& key, std::int64_t amount, HubPeers& peers);
  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;  // of all values
  std::vector<Waiting> waiting_;
};

// Largest key and value that the store takes.
inline constexpr std::size_t kMostKeyBytes = 4096;
inline constexpr std::size_t kMostValueBytes = std::size_t{8} << 20;

// dial opens a connection with Purpose::store or throws EnvError. It may be called from any thread.
std::unique_ptr<Store> network_store(std::function<FileDescriptor()> dial);

}  // namespace tandem
