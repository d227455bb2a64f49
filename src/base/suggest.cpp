#include "base/suggest.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

template <class Near>  // bool(most letters of the two, distance)
std::string nearest(std::string_view name, std::span<const std::string> known, Near near) {
  const std::string wanted = in_lower_case(name);
  std::string best;
  std::size_t least = SIZE_MAX;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(wanted, in_lower_case(candidate));
    if (distance < least && near(std::max(name.size(), candidate.size()), distance)) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table (optimal string alignment): two back, previous, current.
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const std::size_t most_wrong = std::max<std::size_t>(2, name.size() / 3);
  return nearest(name, known, [&](std::size_t letters, std::size_t distance) {
    return distance <= most_wrong && distance < letters;
  });
}

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  return nearest(word, known,
                 [](std::size_t letters, std::size_t distance) { return distance <= letters / 4; });
}

}  // namespace tandem
