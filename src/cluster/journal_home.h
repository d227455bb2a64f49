// journal_home: rank 0's end of the journal's copies, a service of its hub. It reads the file as it
// grows, on a thread of its own, and sends it to the hosts that keep a copy; what they send comes
// out of take_records. Nobody waits for a host that is slow or gone: little is on its way at a time
// and the rest stays in the file.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/hub.h"

namespace tandem {

class JournalHome final : public HubService {
 public:
  void open(const fs::path& journal);  // it exists, and only whole lines will be added
  void complete();                     // nothing will be added any more
  std::vector<std::string> take_records();

  void opened(const Peer& peer, HubPeers& peers) override;
  void received(const Peer& peer, std::string_view message, HubPeers& peers) override;
  void closed(const Peer& peer, HubPeers& peers) override;
  void tick(SteadyTime now, HubPeers& peers) override;

 private:
  struct Copy {
    bool greeted = false, ended = false;
    int asked = 0, answered = 0;  // how often it said what it holds
    std::int64_t held = 0;        // as it says, before that was checked
    std::string hash;             // of that
    std::int64_t sent = 0, got = 0;
  };
  void feed(const std::stop_token& stop);
  void feed_all();
  void feed_one(std::int64_t peer, Copy& copy, std::int64_t size, bool complete);
  std::string next_lines(const Copy& copy, std::int64_t size, std::int64_t window) const;
  void put(std::int64_t peer, std::string message);

  // Of the feeding thread and open():
  fs::path path_;
  FileDescriptor file_;
  std::string mark_;

  std::mutex mutex_;                     // guards what follows
  std::map<std::int64_t, Copy> copies_;  // by connection
  std::vector<std::pair<std::int64_t, std::string>> out_;
  std::vector<std::string> records_;
  bool complete_ = false;
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace tandem
