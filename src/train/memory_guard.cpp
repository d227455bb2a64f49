#include "train/memory_guard.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

#include "base/error.h"

namespace tandem {
namespace {

// Torch has a type for this on CUDA only; the CPU's allocator can be told by its words.
bool is_about_memory(const c10::Error& error) {
  const std::string_view text = error.what_without_backtrace();
  return text.find("out of memory") != std::string_view::npos ||
         text.find("can't allocate memory") != std::string_view::npos ||
         text.find("not enough memory") != std::string_view::npos;
}

}  // namespace

void guard_memory(const std::function<std::string()>& sentence, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw EnvError(sentence());
  } catch (const c10::Error& error) {
    if (is_about_memory(error)) throw EnvError(sentence());
    throw;
  }
}

}  // namespace tandem
