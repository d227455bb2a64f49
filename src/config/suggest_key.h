// suggest_key: the option that an unknown key most likely meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

// "" when none is near. Near is a key with few letters wrong ("optim.lrr"), or the right name in
// the wrong section or in none ("optim.d_model", "d_model"), in capitals or not.
std::string suggest_key(std::string_view written, std::span<const std::string> known);

}  // namespace tandem
