// handshake: two ends of a connection show each other that they know the job token, without
// telling it. Nothing else is read or written before. Three messages of fixed size:
//
//   hub     "tandem" version, nonce
//   caller  nonce, purpose, rank, workers; proof = HMAC(token, "caller", both nonces, those fields)
//   hub     verdict; proof = HMAC(token, "hub", both nonces, those fields, verdict)
//
// Nonces are new for each connection, so a recorded handshake is worthless; the role in the proof
// keeps one from being sent back to its maker. The hub says nothing to a wrong proof: it closes.
// After the handshake the bytes are neither encrypted nor signed (docs/launch.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/tcp.h"

namespace tandem {

enum class Purpose : std::uint8_t { store = 1, heartbeat = 2, probe = 3, journal = 4, files = 5 };

struct Caller {
  Purpose purpose = Purpose::store;
  int rank = 0;
  int size = 0;  // of the world it expects
  bool operator==(const Caller&) const = default;
};

enum class Verdict : std::uint8_t { welcome = 0, other_size = 1 };

inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kGreetingBytes = 8 + kNonceBytes;
inline constexpr std::size_t kAnswerBytes = kNonceBytes + 1 + 4 + 4 + 32;
inline constexpr std::size_t kVerdictBytes = 1 + 32;

// The hub's side, for an event loop.
std::string greeting(std::string_view nonce);
struct Answer {
  std::string nonce;
  Caller caller;
};
std::optional<Answer> read_answer(std::string_view token, std::string_view hub_nonce,
                                  std::string_view bytes);  // nothing: a stranger
std::string verdict_message(std::string_view token, std::string_view hub_nonce,
                            const Answer& answer, Verdict verdict);

// The caller's side; waits. Empty when it is welcome, else why not.
std::string introduce(int fd, std::string_view token, const Caller& caller, SteadyTime deadline);

// connect_to and introduce. Empty on failure; problem says why.
FileDescriptor call(const Endpoint& endpoint, std::string_view token, const Caller& caller,
                    SteadyTime deadline, std::string& problem);

}  // namespace tandem
