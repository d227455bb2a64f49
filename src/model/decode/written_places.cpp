#include "model/decode/written_places.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {

void WrittenPlaces::select(std::span<const std::int32_t> from) {
  other_.resize(from.size() * room_);
  other_lengths_.resize(from.size());
  std::ranges::fill(needed_, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    check(from[i] >= 0 && static_cast<std::size_t>(from[i]) < rows(), "no such row to go on from");
    const auto history = of(static_cast<std::size_t>(from[i]));
    std::ranges::copy(history, other_.begin() + static_cast<std::ptrdiff_t>(i * room_));
    other_lengths_[i] = history.size();
    for (const std::int32_t place : history) needed_[static_cast<std::size_t>(place)] = 1;
  }
  places_.swap(other_);
  lengths_.swap(other_lengths_);
  next_ = 0;
}

void WrittenPlaces::add_rows(std::size_t count) {
  lengths_.resize(rows() + count, 0);
  places_.resize(rows() * room_);
}

void WrittenPlaces::make_room(std::size_t words) {
  if (words <= room_) return;
  const std::size_t room = std::max<std::size_t>(32, 2 * words);
  other_.assign(rows() * room, 0);
  for (std::size_t row = 0; row < rows(); ++row) {
    std::ranges::copy(of(row), other_.begin() + static_cast<std::ptrdiff_t>(row * room));
  }
  places_.swap(other_);
  room_ = room;
}

void WrittenPlaces::add_word() {
  if (lengths_.empty()) return;
  make_room(*std::ranges::max_element(lengths_) + 1);
  for (std::size_t row = 0; row < rows(); ++row) {
    while (next_ < needed_.size() && needed_[next_] != 0) ++next_;
    if (next_ == needed_.size()) needed_.push_back(0);
    needed_[next_] = 1;
    places_[row * room_ + lengths_[row]++] = static_cast<std::int32_t>(next_);
  }
}

}  // namespace tandem
