// sacrebleu_version: what the version field of our signatures says. It names the sacreBLEU release
// whose numbers and text form ours equal (tests/system/test_score.py compares them), so a score of
// ours can be cited and reproduced as one of that release. tandem's own version is not in it.
#pragma once

#include <string_view>

namespace tandem {

inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

}  // namespace tandem
