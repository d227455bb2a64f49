// written_places: where the keys and values of each hypothesis' words lie in a cache. A row is a
// list of places, so that beams are reordered, repeated and dropped by copying integers and share
// what they have in common; places that no row needs any more are taken again first, which keeps
// the cache small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

class WrittenPlaces {
 public:
  std::size_t rows() const { return lengths_.size(); }
  std::size_t length(std::size_t row) const { return lengths_[row]; }  // words of it
  std::size_t capacity() const { return needed_.size(); }              // places are below it

  // Row i goes on from what was row from[i].
  void select(std::span<const std::int32_t> from);
  void add_word();                   // to every row
  void add_rows(std::size_t count);  // without words, behind the others
  // Of the words of a row, the oldest first.
  std::span<const std::int32_t> of(std::size_t row) const {
    return {places_.data() + row * room_, lengths_[row]};
  }

 private:
  void make_room(std::size_t words);

  std::size_t room_ = 0;
  std::vector<std::size_t> lengths_, other_lengths_;  // of rows
  std::vector<std::int32_t> places_, other_;          // [rows, room]
  std::vector<char> needed_;                          // by place
  std::size_t next_ = 0;                              // no place below it is free
};

}  // namespace tandem
