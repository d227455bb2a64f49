// longest_line: of a journal. Who reads one need not hold more than this to find the line's end; a
// file with longer lines is something else.
#pragma once

#include <cstdint>

namespace tandem {

inline constexpr std::int64_t kLongestLine = std::int64_t{8} << 20;  // bytes

}  // namespace tandem
