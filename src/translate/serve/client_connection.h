// client_connection: the bytes of one HTTP client, bounded in number and time. A request has to
// arrive whole within some seconds, and without long silences; where other clients wait for their
// turn, one that keeps them waiting has less. Once a limit is passed nothing more is read, and
// trouble() says which it was. One thread; knows nothing of HTTP but that requests have a head.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/files.h"

namespace tandem {

struct ConnectionLimits {
  std::size_t most_head_bytes = 16 << 10;
  std::size_t most_body_bytes = 2 << 20;     // as they arrive
  std::chrono::milliseconds silence{5000};   // of a client that is to send or to take something
  std::chrono::milliseconds request{10000};  // until a request is whole
  std::chrono::milliseconds crowded{1000};   // the same while other clients wait
};

class ClientConnection {
 public:
  enum class Trouble { none, left, too_slow, head_too_large, body_too_large };

  // others: clients that wait for their turn.
  ClientConnection(FileDescriptor socket, const ConnectionLimits& limits,
                   const std::atomic<int>& others)
      : socket_(std::move(socket)), limits_(limits), others_(others) {}
  // Ends the connection so that the last answer arrives, though the client may still send.
  ~ClientConnection();

  // True when the next request begins to arrive. False: the client left or was silent, others wait,
  // or stop became true.
  bool wait_for_request(const std::atomic<bool>& stop);
  void head_is_whole();     // what follows is its body
  void request_is_whole();  // from now on only the answer is timed
  bool is_request_whole() const { return whole_; }

  // Bytes read, at least one; 0 once there is trouble.
  std::size_t read(std::span<char> out);
  // False: the client left, or takes nothing for too long.
  bool write(std::string_view bytes);

  Trouble trouble() const { return trouble_; }
  std::string address() const;  // of the client

 private:
  using Clock = std::chrono::steady_clock;
  bool wait_for(short events);
  bool receive();  // more bytes into buffer_
  bool fail(Trouble trouble) {
    trouble_ = trouble;
    return false;
  }

  const FileDescriptor socket_;
  const ConnectionLimits limits_;
  const std::atomic<int>& others_;
  char buffer_[8192];
  std::size_t begin_ = 0, end_ = 0;  // of what is in buffer_
  std::size_t allowed_ = 0;          // bytes that may still be read
  bool in_head_ = true, whole_ = true;
  Clock::time_point began_{};  // the request, or the answer
  Trouble trouble_ = Trouble::none;
};

}  // namespace tandem
