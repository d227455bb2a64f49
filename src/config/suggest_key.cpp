#include "config/suggest_key.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "base/suggest.h"

namespace tandem {
namespace {

std::string_view leaf_of(std::string_view key) {
  return key.substr(key.rfind('.') + 1);  // npos + 1 is 0
}

}  // namespace

std::string suggest_key(std::string_view written, std::span<const std::string> known) {
  constexpr std::size_t kLongestKey = 64;  // longer ones are no slip of the finger
  if (written.size() > kLongestKey) return {};
  const std::string key = in_lower_case(written);

  // A wrong section counts as two wrong letters, however different the two sections are spelt.
  const std::string_view leaf = leaf_of(key);
  const std::size_t most_wrong = std::max<std::size_t>(2, key.size() / 3);
  std::tuple<std::size_t, std::size_t, std::string> best{SIZE_MAX, SIZE_MAX, ""};
  for (const std::string& candidate : known) {
    const std::size_t whole = edit_distance(key, candidate);
    const std::size_t in_leaf = edit_distance(leaf, leaf_of(candidate));
    const bool same_leaf = leaf.size() > 1 && in_leaf <= leaf.size() / 4;
    if (whole > most_wrong && !same_leaf) continue;
    const std::size_t score = same_leaf ? std::min(whole, in_leaf + 2) : whole;
    best = std::min(best, {score, whole, candidate});
  }
  return std::get<2>(best);
}

}  // namespace tandem
