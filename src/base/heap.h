// heap: how the process keeps memory. A training step frees and takes the same hundreds of
// megabytes again and again; given back to the system in between, each 4 KB of them costs a fault.
#pragma once

#include <cstddef>

namespace tandem {

// Freed memory stays with the process, and its first gigabyte lies in large pages where the system
// has them. Call it once, before the work begins.
void keep_freed_memory();

// Memory apart from all that: it goes back to the system. For what is large and needed now and
// then.
void* take_passing_memory(std::size_t bytes);  // throws bad_alloc
void give_back_memory(void* memory, std::size_t bytes);

}  // namespace tandem
