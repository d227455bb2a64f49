// data_cursor: a position in the endless row of global batches. Two integers are enough to go on
// exactly there, also on another number of workers.
#pragma once

#include <cstdint>

namespace tandem {

struct DataCursor {
  std::int64_t epoch = 0;
  std::int64_t next = 0;  // index of the next batch in the epoch
  bool operator==(const DataCursor&) const = default;
};

}  // namespace tandem
