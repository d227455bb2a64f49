// format: fmt under our own name, until the compilers we support ship <format>.
#pragma once

#include <fmt/format.h>

namespace tandem {

using fmt::format;
using fmt::join;

}  // namespace tandem
