#include "data/corpus.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/corpus_format.h"

namespace tandem {
namespace {

constexpr std::uint64_t kMostSentenceIds = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw UserError(format("{}: {}; prepare the dataset again", path.string(), why));
}

CorpusHeader read_header(std::span<const std::byte> index, const fs::path& path) {
  CorpusHeader header{};
  if (index.size() < sizeof header) refuse(path, "too short for the index of a dataset");
  std::memcpy(&header, index.data(), sizeof header);
  if (!std::ranges::equal(header.magic, kCorpusMagic)) refuse(path, "not the index of a dataset");
  if (header.version != kCorpusVersion) {
    refuse(path, format("version {} of the format, this program reads version {}", header.version,
                        kCorpusVersion));
  }
  if (hash64(index.first(offsetof(CorpusHeader, header_hash))) != header.header_hash) {
    refuse(path, "the header is damaged");
  }
  if ((header.bytes_per_id != 2 && header.bytes_per_id != 4) || header.vocab_size <= 0) {
    refuse(path, "the header makes no sense");
  }
  return header;
}

template <class T>
std::span<const T> view_as(std::span<const std::byte> bytes) {
  // mmap gives pages, and the header is a multiple of 8 bytes: T is aligned.
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

Corpus::Corpus(const fs::path& dataset, const std::string& part)
    : tokens_path_(dataset / (part + ".tokens")),
      index_(dataset / (part + ".index")),
      tokens_(tokens_path_) {
  const fs::path index_path = dataset / (part + ".index");
  const CorpusHeader header = read_header(index_.bytes(), index_path);
  const std::uint64_t token_bytes = tokens_.bytes().size();
  if (token_bytes / header.bytes_per_id != header.ids || token_bytes % header.bytes_per_id != 0) {
    refuse(tokens_path_,
           format("{} bytes instead of {} x {}", token_bytes, header.ids, header.bytes_per_id));
  }
  // Sizes are compared by division: a hostile count must not overflow a product.
  const std::uint64_t blocks = (token_bytes + kHashBlockBytes - 1) / kHashBlockBytes;
  const auto body = index_.bytes().subspan(sizeof header);
  const std::uint64_t words = body.size() / 8;
  if (body.size() % 8 != 0 || words < blocks + 1 || (words - blocks - 1) / 2 != header.pairs ||
      (words - blocks - 1) % 2 != 0) {
    refuse(index_path, format("{} bytes do not fit {} pairs", index_.bytes().size(), header.pairs));
  }
  if (hash64(body) != header.body_hash) refuse(index_path, "the index is damaged");

  bounds_ = view_as<std::uint64_t>(body).first(words - blocks);
  block_hashes_ = view_as<std::uint64_t>(body).last(blocks);
  block_is_sound_ = std::make_unique<std::atomic<bool>[]>(blocks);
  const auto makes_a_sentence = [](std::uint64_t begin, std::uint64_t end) {
    return begin <= end && end - begin <= kMostSentenceIds;
  };
  if (bounds_.front() != 0 || bounds_.back() != header.ids ||
      !std::ranges::equal(bounds_.first(bounds_.size() - 1), bounds_.subspan(1),
                          makes_a_sentence)) {
    refuse(index_path, "the index makes no sense");
  }
  special_ = header.special;
  vocab_size_ = header.vocab_size;
  bytes_per_id_ = header.bytes_per_id;
  vocab_hash_ = header.vocab_hash;
  fingerprint_ = header.header_hash;
}

void Corpus::copy(std::uint64_t begin, std::uint64_t end, std::int32_t* out) const {
  const auto bytes = tokens_.bytes();
  for (std::size_t block = begin * bytes_per_id_ / kHashBlockBytes;
       block * kHashBlockBytes < end * bytes_per_id_; ++block) {
    if (!block_is_sound_[block].load(std::memory_order_relaxed)) verify_block(block);
  }
  if (bytes_per_id_ == 2) {
    const auto ids = view_as<std::uint16_t>(bytes).subspan(begin, end - begin);
    std::ranges::copy(ids, out);
  } else {
    const auto ids = view_as<std::int32_t>(bytes).subspan(begin, end - begin);
    std::ranges::copy(ids, out);
  }
}

void Corpus::copy_src(std::size_t pair, std::int32_t* out) const {
  copy(bounds_[2 * pair], bounds_[2 * pair + 1], out);
}

void Corpus::copy_tgt(std::size_t pair, std::int32_t* out) const {
  copy(bounds_[2 * pair + 1], bounds_[2 * pair + 2], out);
}

void Corpus::verify() const {
  for (std::size_t block = 0; block < block_hashes_.size(); ++block) verify_block(block);
}

void Corpus::verify_block(std::size_t block) const {
  const std::size_t begin = block * kHashBlockBytes;
  const std::size_t size = std::min<std::size_t>(kHashBlockBytes, tokens_.bytes().size() - begin);
  const auto bytes = tokens_.bytes().subspan(begin, size);
  if (hash64(bytes) != block_hashes_[block]) {
    refuse(tokens_path_, format("damaged between bytes {} and {}", begin, begin + size));
  }
  const auto in_vocab = [this](auto id) {
    return static_cast<std::int64_t>(id) >= 0 && static_cast<std::int64_t>(id) < vocab_size_;
  };
  const bool sound = bytes_per_id_ == 2
                         ? std::ranges::all_of(view_as<std::uint16_t>(bytes), in_vocab)
                         : std::ranges::all_of(view_as<std::int32_t>(bytes), in_vocab);
  if (!sound) refuse(tokens_path_, format("an id is not below the vocabulary's {}", vocab_size_));
  block_is_sound_[block].store(true, std::memory_order_relaxed);
}

}  // namespace tandem
