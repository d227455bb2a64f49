// store_protocol: the messages between network_store's two ends.
//   request  u8 operation, text key, then: set text value | get i64 milliseconds | add i64 amount
//   answer   u8 status, then the value, the sentence of a refusal, or nothing
#pragma once

#include <cstdint>

namespace tandem {

enum class StoreOperation : std::uint8_t { set = 1, get = 2, add = 3, has = 4, erase = 5 };
enum class StoreStatus : std::uint8_t { ok = 0, late = 1, refused = 2 };

}  // namespace tandem
