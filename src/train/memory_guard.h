// memory_guard: an allocation that fails inside the work becomes an EnvError with advice.
#pragma once

#include <functional>
#include <string>

namespace tandem {

// sentence: what did not fit and what to change.
void guard_memory(const std::function<std::string()>& sentence, const std::function<void()>& work);

}  // namespace tandem
