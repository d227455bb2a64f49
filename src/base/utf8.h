// utf8: is a line text at all?
#pragma once

#include <string_view>

namespace tandem {

// True for well-formed UTF-8: no cut, overlong or surrogate sequence, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text);

}  // namespace tandem
