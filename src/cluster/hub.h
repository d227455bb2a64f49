// hub: rank 0's end of the control channel. One thread listens on the addresses it was given,
// lets in who knows the job token, and hands whole messages to the service that the caller asked
// for. Strangers get a few seconds, a fixed number of bytes and no answer; there may be few of
// them at a time, the oldest goes first, and the log names them now and then, not each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/handshake.h"
#include "cluster/tcp.h"

namespace tandem {

struct Peer {
  std::int64_t id = 0;  // of this connection; never used again
  Caller caller;
  std::string from;  // its address
};

// What a service may do to peers. Unknown ids are ignored: the connection is gone already.
class HubPeers {
 public:
  virtual ~HubPeers() = default;
  virtual void send(std::int64_t peer, std::string_view message) = 0;
  virtual void close(std::int64_t peer) = 0;
};

// Called on the hub's thread only, so a service needs no locks for its own state.
class HubService {
 public:
  virtual ~HubService() = default;
  virtual void opened(const Peer&, HubPeers&) {}
  virtual void received(const Peer& peer, std::string_view message, HubPeers& peers) = 0;
  virtual void closed(const Peer&, HubPeers&) {}
  virtual void tick(SteadyTime, HubPeers&) {}  // ten times a second, or more often
};

struct HubOptions {
  std::string token;
  int size = 1;                               // workers of the world; callers must agree
  std::chrono::milliseconds handshake{5000};  // time for a caller to prove itself
  std::size_t most_strangers = 64;            // that may be at it at the same time
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

class Hub {
 public:
  // The services outlive the hub.
  Hub(std::vector<ListeningSocket> sockets, HubOptions options,
      std::map<Purpose, HubService*> services);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // A connection of this process to its own hub: no address, no handshake.
  FileDescriptor connect_locally(const Caller& caller);

  // Stops listening on all addresses but this one; connections stay.
  void keep_only(const std::string& address);
  // The same for all addresses at which nobody who knew the token has arrived.
  void keep_reached();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace tandem
