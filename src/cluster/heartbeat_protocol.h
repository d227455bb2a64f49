// heartbeat_protocol: the messages between a worker's heartbeat and rank 0's hub; u8 kind, then:
//   hello     text name                                 worker
//   beat      i64 step, text phase, i64 steps worked,   worker; the hub repeats rank 0's step and
//             i64 us of own work in them                phase, name first
//   goodbye                                             worker
//   failure   text cause                                worker
//   cause     text                                      hub: all end
//   stop                                                worker: it was told to stop; the hub
//   repeats
//                                                       it to all
//   all_left                                            hub: everybody said goodbye
#pragma once

#include <cstdint>

namespace tandem {

enum class BeatKind : std::uint8_t {
  hello = 1,
  beat = 2,
  goodbye = 3,
  failure = 4,
  cause = 5,
  all_left = 6,
  stop = 7,
};

}  // namespace tandem
