// cores: how many processor cores this process may use: those that a launcher or taskset left it,
// which std::thread::hardware_concurrency() may not know of. At least one.
#pragma once

namespace tandem {

int usable_cores();

}  // namespace tandem
