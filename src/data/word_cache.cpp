#include "data/word_cache.h"

#include "base/hash.h"

namespace tandem {
namespace {

constexpr std::size_t kLongestWord = 64;  // bytes; longer ones hardly come twice

// Bytes of the character at the start of text if it is in the set, else 0. The set: printable
// ASCII, the letters of Latin-1, and dashes and quotation marks. None of them combines with a
// neighbour.
std::size_t plain_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) >= 0x20 && byte(0) < 0x7F) return 1;
  if (byte(0) == 0xC3 && text.size() >= 2 && (byte(1) & 0xC0) == 0x80)
    return 2;  // U+00C0 .. U+00FF
  if (byte(0) == 0xE2 && text.size() >= 3 && byte(1) == 0x80) {
    switch (byte(2)) {  // U+2013, 2014, 2018, 2019, 201A, 201C, 201D, 201E
      case 0x93:
      case 0x94:
      case 0x98:
      case 0x99:
      case 0x9A:
      case 0x9C:
      case 0x9D:
      case 0x9E:
        return 3;
      default:
        return 0;
    }
  }
  return 0;
}

bool is_plain(std::string_view line) {
  while (!line.empty()) {
    const std::size_t length = plain_character(line);
    if (length == 0) return false;
    line.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::size_t WordCacheEncoder::Hash::operator()(std::string_view word) const {
  return hash64(word);
}

WordCacheEncoder::WordCacheEncoder(const Vocab& vocab, std::size_t max_words)
    : vocab_(vocab), max_words_(max_words) {}

void WordCacheEncoder::encode(std::string_view line, std::vector<std::int32_t>& ids) {
  if (!vocab_.words_are_independent() || !is_plain(line)) {
    vocab_.encode(line, ids);
    return;
  }
  ids.clear();
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) append(line.substr(0, end), ids);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
}

void WordCacheEncoder::append(std::string_view word, std::vector<std::int32_t>& ids) {
  if (word.size() > kLongestWord) {
    vocab_.encode(word, scratch_);
    ids.insert(ids.end(), scratch_.begin(), scratch_.end());
    return;
  }
  const Slice known = ids_of(word);
  const auto begin = stored_ids_.begin() + known.begin;
  ids.insert(ids.end(), begin, begin + known.size);
}

WordCacheEncoder::Slice WordCacheEncoder::ids_of(std::string_view word) {
  if (const auto known = words_.find(word); known != words_.end()) return known->second;
  if (words_.size() ==
      max_words_) {  // rare words have pushed it full: start over, the usual ones return
    words_.clear();
    stored_ids_.clear();
  }
  vocab_.encode(word, scratch_);
  const Slice slice{static_cast<std::uint32_t>(stored_ids_.size()),
                    static_cast<std::uint32_t>(scratch_.size())};
  stored_ids_.insert(stored_ids_.end(), scratch_.begin(), scratch_.end());
  words_.emplace(word, slice);
  return slice;
}

}  // namespace tandem
