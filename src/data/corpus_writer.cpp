#include "data/corpus_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "data/corpus_format.h"

namespace tandem {
namespace {

template <class Id>
void append_ids(std::span<const std::int32_t> ids, std::vector<std::byte>& out) {
  out.resize(ids.size() * sizeof(Id));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Id id = static_cast<Id>(ids[i]);
    std::memcpy(out.data() + i * sizeof(Id), &id, sizeof(Id));
  }
}

}  // namespace

CorpusWriter::CorpusWriter(const fs::path& folder, const std::string& part, const VocabFacts& vocab)
    : vocab_(vocab),
      bytes_per_id_(vocab.size <= std::numeric_limits<std::uint16_t>::max() + 1 ? 2 : 4),
      tokens_(folder / (part + ".tokens")),
      index_(folder / (part + ".index")) {
  const CorpusHeader place_holder{};
  index_.write(std::as_bytes(std::span{&place_holder, 1}));
  add_bound();
}

void CorpusWriter::add(std::span<const std::int32_t> src, std::span<const std::int32_t> tgt) {
  add_side(src);
  add_side(tgt);
  ++pairs_;
}

void CorpusWriter::add_side(std::span<const std::int32_t> ids) {
  if (bytes_per_id_ == 2) {
    append_ids<std::uint16_t>(ids, side_bytes_);
  } else {
    append_ids<std::uint32_t>(ids, side_bytes_);
  }
  tokens_.write(side_bytes_);
  hash_tokens(side_bytes_);
  ids_ += ids.size();
  add_bound();
}

void CorpusWriter::add_bound() {
  const auto bytes = std::as_bytes(std::span{&ids_, 1});
  index_.write(bytes);
  body_hash_.add(bytes);
}

void CorpusWriter::hash_tokens(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), kHashBlockBytes - block_filled_);
    block_hash_.add(bytes.first(n));
    bytes = bytes.subspan(n);
    block_filled_ += n;
    if (block_filled_ == kHashBlockBytes) {
      block_hashes_.push_back(block_hash_.value());
      block_hash_ = Hasher64();
      block_filled_ = 0;
    }
  }
}

std::uint64_t CorpusWriter::finish() {
  if (block_filled_ > 0) block_hashes_.push_back(block_hash_.value());
  const auto hashes = std::as_bytes(std::span{block_hashes_});
  index_.write(hashes);
  body_hash_.add(hashes);

  CorpusHeader header{};
  std::ranges::copy(kCorpusMagic, header.magic);
  header.version = kCorpusVersion;
  header.bytes_per_id = bytes_per_id_;
  header.pairs = pairs_;
  header.ids = ids_;
  header.special = vocab_.special;
  header.vocab_size = vocab_.size;
  header.vocab_hash = vocab_.hash;
  header.body_hash = body_hash_.value();
  const auto bytes = std::as_bytes(std::span{&header, 1});
  header.header_hash = hash64(bytes.first(offsetof(CorpusHeader, header_hash)));
  index_.overwrite_start(bytes);

  tokens_.finish();
  index_.finish();
  return header.header_hash;
}

}  // namespace tandem
