#include "base/error.h"

#include <system_error>

#include "base/format.h"

namespace tandem {

void check(bool ok, std::string_view what, std::source_location at) {
  if (!ok) throw InternalError(format("{}:{}: {}", at.file_name(), at.line(), what));
}

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace tandem
