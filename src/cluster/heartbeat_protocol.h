// heartbeat_protocol: the messages between a worker's heartbeat and rank 0's hub; u8 kind, then:
//   hello     text name                                   worker
//   beat      i64 step, text phase, i64 ticks, u8 waits,  worker; of rank 0's the hub repeats
//             i64 steps worked, i64 us of own work in     name, step and phase to all;
//             them                                        ticks, waits: work_sign.h
//   goodbye                                               worker
//   failure   text cause                                  worker
//   cause     text                                        hub: all end
//   stop                                                  worker: it was told to stop; the
//                                                         hub repeats it to all
//   cut_off   text sentence                               hub, to rank 0: told to stop, but some
//                                                         cannot agree on a step; rank 0 sends it
//                                                         back when it is ready to end, the hub
//                                                         repeats it to all
//   all_left                                              hub: everybody said goodbye
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
