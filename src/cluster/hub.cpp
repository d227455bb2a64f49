#include "cluster/hub.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "cluster/job_token.h"
#include "cluster/stranger_log.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kLinger = std::chrono::milliseconds(500);
constexpr std::size_t kMostUnsentBytes = std::size_t{64} << 20;  // a peer that does not read
constexpr int kMostCallsASecond = 500;

struct Connection {
  FileDescriptor fd;
  Peer peer;
  std::string arrived_at;  // the address of ours that it called; empty: of this process
  bool known = false;
  std::string nonce;  // ours, of the handshake
  SteadyTime deadline{};
  std::string in, out;
  bool doomed = false;
};

// True: data may follow. False: the other end is gone.
bool receive(int fd, std::string& into) {
  char block[65536];
  const ssize_t n = ::recv(fd, block, sizeof block, MSG_DONTWAIT);
  if (n > 0) into.append(block, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

bool flush(Connection& connection) {
  while (!connection.out.empty()) {
    const ssize_t n = ::send(connection.fd.get(), connection.out.data(), connection.out.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    connection.out.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

class Hub::Loop final : public HubPeers {
 public:
  Loop(std::vector<ListeningSocket> sockets, HubOptions options,
       std::map<Purpose, HubService*> services)
      : sockets_(std::move(sockets)),
        options_(std::move(options)),
        services_(std::move(services)),
        strangers_(options_.say),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_.get() < 0) throw EnvError(format("eventfd: {}", errno_text(errno)));
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  ~Loop() override {
    thread_.request_stop();
    wake();
    thread_.join();
  }

  void add_local(FileDescriptor fd, const Caller& caller) {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back({std::move(fd), caller});
    wake();
  }

  void keep_only(const std::string& address) {
    const std::lock_guard lock(mutex_);
    keep_ = address;
    wake();
  }

  void keep_reached() {
    const std::lock_guard lock(mutex_);
    keep_reached_ = true;
    wake();
  }

  void send(std::int64_t peer, std::string_view message) override {
    const auto at = connections_.find(peer);
    if (at == connections_.end()) return;
    at->second.out += framed(message);
    if (at->second.out.size() > kMostUnsentBytes) at->second.doomed = true;
  }

  void close(std::int64_t peer) override {
    const auto at = connections_.find(peer);
    if (at != connections_.end()) at->second.doomed = true;
  }

 private:
  struct Arrival {
    FileDescriptor fd;
    Caller caller;
  };

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      take_orders();
      wait(kTick);
      const auto now = std::chrono::steady_clock::now();
      for (auto& [id, connection] : connections_) {
        if (!connection.known && now > connection.deadline) refuse(connection, now);
      }
      for (auto& [purpose, service] : services_) service->tick(now, *this);
      strangers_.tick(now);
      flush_and_bury();
    }
    say_last_words();
  }

  // What came in is still answered. Then the other ends close first, so that nothing they have yet
  // to read is lost with an unread byte of theirs.
  void say_last_words() {
    sockets_.clear();
    for (int i = 0; i < 2; ++i) {
      wait(std::chrono::milliseconds(0));
      flush_and_bury();
    }
    for (auto& [id, connection] : connections_) ::shutdown(connection.fd.get(), SHUT_WR);
    const auto deadline = std::chrono::steady_clock::now() + kLinger;
    while (!connections_.empty() && std::chrono::steady_clock::now() < deadline) {
      wait(kTick);
      std::erase_if(connections_, [](const auto& entry) { return entry.second.doomed; });
    }
  }

  void take_orders() {
    const std::lock_guard lock(mutex_);
    for (Arrival& arrival : arrivals_) {
      Connection& connection = add(std::move(arrival.fd));
      connection.peer.caller = arrival.caller;
      connection.known = true;
      if (HubService* service = service_of(connection)) service->opened(connection.peer, *this);
    }
    arrivals_.clear();
    if (!keep_.empty()) {
      std::erase_if(sockets_, [&](const auto& socket) { return socket.at.address != keep_; });
    }
    if (keep_reached_) {
      std::erase_if(sockets_,
                    [&](const auto& socket) { return !reached_.contains(socket.at.address); });
    }
  }

  // Waits for bytes, callers or orders and takes in what there is.
  void wait(std::chrono::milliseconds most) {
    std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
    const bool open = may_accept();
    for (const auto& socket : sockets_) {
      polled.push_back({socket.fd.get(), static_cast<short>(open ? POLLIN : 0), 0});
    }
    const std::size_t first = polled.size();
    std::vector<std::int64_t> ids;
    for (const auto& [id, connection] : connections_) {
      const bool waiting = !connection.out.empty();
      polled.push_back(
          {connection.fd.get(), static_cast<short>(waiting ? POLLIN | POLLOUT : POLLIN), 0});
      ids.push_back(id);
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(most.count())) <= 0) return;
    std::uint64_t wakes = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &wakes, sizeof wakes);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if ((polled[first + i].revents & ~POLLOUT) != 0) take_in(connections_.at(ids[i]));
    }
    for (std::size_t i = 1; i < first; ++i) {
      if ((polled[i].revents & POLLIN) != 0) accept_from(sockets_[i - 1]);
    }
  }

  bool may_accept() {
    const auto now = std::chrono::steady_clock::now();
    if (now - second_ > std::chrono::seconds(1)) {
      second_ = now;
      calls_ = 0;
    }
    return calls_ < kMostCallsASecond;
  }

  void accept_from(const ListeningSocket& listener) {
    FileDescriptor fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.get() < 0) {  // out of descriptors: the rest of this second is for who is here
      if (errno == EMFILE || errno == ENFILE) calls_ = kMostCallsASecond;
      return;
    }
    ++calls_;
    make_room();
    Connection& connection = add(std::move(fd));
    connection.arrived_at = listener.at.address;
    connection.nonce = random_bytes(kNonceBytes);
    connection.deadline = std::chrono::steady_clock::now() + options_.handshake;
    connection.out = greeting(connection.nonce);
  }

  // Ids grow, so the first stranger found is the oldest.
  void make_room() {
    std::size_t count = 0;
    Connection* oldest = nullptr;
    for (auto& [id, connection] : connections_) {
      if (connection.known || connection.doomed) continue;
      ++count;
      if (oldest == nullptr) oldest = &connection;
    }
    if (count >= options_.most_strangers) refuse(*oldest, std::chrono::steady_clock::now());
  }

  Connection& add(FileDescriptor fd) {
    const std::int64_t id = ++last_id_;
    Connection& connection = connections_[id];
    connection.peer.id = id;
    connection.peer.from = peer_text(fd.get());
    connection.fd = std::move(fd);
    return connection;
  }

  void take_in(Connection& connection) {
    if (connection.doomed) return;
    const bool alive = receive(connection.fd.get(), connection.in);
    if (!connection.known) {
      judge(connection);
    } else {
      hand_over(connection);
    }
    if (alive) return;
    if (!connection.known) refuse(connection, std::chrono::steady_clock::now());
    connection.doomed = true;
  }

  void judge(Connection& connection) {
    if (connection.in.size() < kAnswerBytes) return;
    const auto answer = read_answer(options_.token, connection.nonce, connection.in);
    if (!answer || service_missing(answer->caller.purpose)) {
      return refuse(connection, std::chrono::steady_clock::now());
    }
    const bool agrees = answer->caller.size == options_.size && answer->caller.rank >= 0 &&
                        answer->caller.rank < options_.size;
    connection.in.clear();
    connection.out += verdict_message(options_.token, connection.nonce, *answer,
                                      agrees ? Verdict::welcome : Verdict::other_size);
    if (!agrees) {
      options_.say(
          format("a worker from {} takes itself for rank {} of {}, but there are {} "
                 "workers here; it was refused",
                 connection.peer.from, answer->caller.rank, answer->caller.size, options_.size));
      connection.doomed = true;
      return;
    }
    connection.peer.caller = answer->caller;
    connection.known = true;
    reached_.insert(connection.arrived_at);
    if (HubService* service = service_of(connection)) service->opened(connection.peer, *this);
  }

  void hand_over(Connection& connection) {
    std::size_t done = 0;
    HubService* service = service_of(connection);
    while (connection.in.size() - done >= 4 && !connection.doomed) {
      const std::string_view rest = std::string_view(connection.in).substr(done);
      const std::uint32_t size = WireReader(rest).u32();
      if (size > kMostFrameBytes) connection.doomed = true;
      if (connection.doomed || rest.size() < 4 + std::size_t{size}) break;
      if (service != nullptr) service->received(connection.peer, rest.substr(4, size), *this);
      done += 4 + std::size_t{size};
    }
    connection.in.erase(0, done);
  }

  void refuse(Connection& connection, SteadyTime now) {
    if (connection.doomed) return;
    strangers_.refused(connection.peer.from, now);
    connection.doomed = true;
  }

  void flush_and_bury() {
    for (auto& [id, connection] : connections_) {
      if (!flush(connection)) connection.doomed = true;
    }
    // A service that hears of an end may send to others or close them.
    for (auto at = connections_.begin(); at != connections_.end();) {
      if (!at->second.doomed) {
        ++at;
        continue;
      }
      const Connection gone = std::move(at->second);
      at = connections_.erase(at);
      HubService* service = gone.known ? service_of(gone) : nullptr;
      if (service != nullptr) service->closed(gone.peer, *this);
    }
  }

  HubService* service_of(const Connection& connection) const {
    const auto at = services_.find(connection.peer.caller.purpose);
    return at == services_.end() ? nullptr : at->second;
  }
  bool service_missing(Purpose purpose) const {
    return purpose != Purpose::probe && !services_.contains(purpose);
  }

  std::vector<ListeningSocket> sockets_;
  HubOptions options_;
  std::map<Purpose, HubService*> services_;
  StrangerLog strangers_;
  std::map<std::int64_t, Connection> connections_;
  std::set<std::string> reached_;  // our addresses at which workers have arrived
  std::int64_t last_id_ = 0;
  SteadyTime second_{};
  int calls_ = 0;  // in that second

  std::mutex mutex_;  // guards what other threads leave here:
  std::vector<Arrival> arrivals_;
  std::string keep_;  // empty: all
  bool keep_reached_ = false;

  FileDescriptor wake_;
  std::jthread thread_;  // last: it uses the rest
};

Hub::Hub(std::vector<ListeningSocket> sockets, HubOptions options,
         std::map<Purpose, HubService*> services)
    : loop_(std::make_unique<Loop>(std::move(sockets), std::move(options), std::move(services))) {}
Hub::~Hub() = default;

FileDescriptor Hub::connect_locally(const Caller& caller) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    throw EnvError(format("socketpair: {}", errno_text(errno)));
  }
  FileDescriptor ours(ends[0]);
  loop_->add_local(FileDescriptor(ends[1]), caller);
  return ours;
}

void Hub::keep_only(const std::string& address) {
  loop_->keep_only(address);
}

void Hub::keep_reached() {
  loop_->keep_reached();
}

}  // namespace tandem
