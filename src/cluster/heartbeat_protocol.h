// heartbeat_protocol: the messages between a worker's heartbeat and rank 0's hub; u8 kind, then:
//   hello     text name                                 worker
//   beat      i64 step, text phase, i64 ticks, u8 waits worker; the hub repeats rank 0's step and
//             (work_sign.h), i64 steps worked, i64 us   phase, name first
//             of own work in them
//   goodbye                                             worker
//   failure   text cause                                worker
//   cause     text                                      hub: all end
//   stop                                                worker: it was told to stop; the hub
//   repeats
//                                                       it to all
//   cut_off   text sentence                             hub, to rank 0: told to stop, but cannot
//   agree
//                                                       on a step; rank 0 sends it back when it is
//                                                       ready to end, the hub repeats it to all
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
  cut_off = 8,
};

}  // namespace tandem
