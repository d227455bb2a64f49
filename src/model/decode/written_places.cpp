#include "model/decode/written_places.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {

void WrittenPlaces::select(std::span<const std::int32_t> from) {
  other_.resize(from.size() * room_);
  std::ranges::fill(needed_, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    check(from[i] >= 0 && static_cast<std::size_t>(from[i]) < rows_, "no such row to go on from");
    const auto history = of(static_cast<std::size_t>(from[i]));
    std::ranges::copy(history, other_.begin() + static_cast<std::ptrdiff_t>(i * room_));
    for (const std::int32_t place : history) needed_[static_cast<std::size_t>(place)] = 1;
  }
  places_.swap(other_);
  rows_ = from.size();
  next_ = 0;
}

void WrittenPlaces::make_room() {
  const std::size_t room = std::max<std::size_t>(32, 2 * room_);
  other_.assign(rows_ * room, 0);
  for (std::size_t row = 0; row < rows_; ++row) {
    std::ranges::copy(of(row), other_.begin() + static_cast<std::ptrdiff_t>(row * room));
  }
  places_.swap(other_);
  room_ = room;
}

void WrittenPlaces::add_word() {
  if (length_ == room_) make_room();
  for (std::size_t row = 0; row < rows_; ++row) {
    while (next_ < needed_.size() && needed_[next_] != 0) ++next_;
    if (next_ == needed_.size()) needed_.push_back(0);
    needed_[next_] = 1;
    places_[row * room_ + length_] = static_cast<std::int32_t>(next_);
  }
  ++length_;
}

}  // namespace tandem
