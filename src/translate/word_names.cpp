#include "translate/word_names.h"

#include <algorithm>

#include "base/hash.h"

namespace tandem {

constexpr std::size_t kFirstPlaces = 256;  // enough for most sentences

void WordNames::clear() {
  entries_.clear();
  places_.assign(kFirstPlaces, 0);
}

std::uint32_t WordNames::name(std::string_view word) {
  const std::uint64_t hash = hash64(word);
  const std::size_t mask = places_.size() - 1;
  std::size_t at = hash & mask;
  for (; places_[at] != 0; at = (at + 1) & mask) {
    const Entry& entry = entries_[places_[at] - 1];
    if (entry.hash == hash && entry.word == word) return places_[at] - 1;
  }
  entries_.push_back({hash, word});
  const auto count = static_cast<std::uint32_t>(entries_.size());
  places_[at] = count;
  if (2 * entries_.size() > places_.size()) grow();
  return count - 1;
}

void WordNames::grow() {
  places_.assign(2 * places_.size(), 0);
  const std::size_t mask = places_.size() - 1;
  for (std::uint32_t name = 0; name < entries_.size(); ++name) {
    std::size_t at = entries_[name].hash & mask;
    while (places_[at] != 0) at = (at + 1) & mask;
    places_[at] = name + 1;
  }
}

}  // namespace tandem
