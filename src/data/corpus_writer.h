// corpus_writer: writes one part of a dataset, pair after pair, in constant memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "data/special_ids.h"

namespace tandem {

// What a corpus says of the vocabulary its ids belong to.
struct VocabFacts {
  SpecialIds special;
  std::int32_t size = 0;
  std::uint64_t hash = 0;
};

class CorpusWriter {
 public:
  // Writes PART.tokens and PART.index into the folder.
  CorpusWriter(const fs::path& folder, const std::string& part, const VocabFacts& vocab);
  void add(std::span<const std::int32_t> src, std::span<const std::int32_t> tgt);
  // Makes both files complete and durable; returns the corpus' fingerprint.
  std::uint64_t finish();

  std::uint64_t pairs() const { return pairs_; }

 private:
  void add_side(std::span<const std::int32_t> ids);
  void add_bound();
  void hash_tokens(std::span<const std::byte> bytes);

  VocabFacts vocab_;
  std::uint32_t bytes_per_id_;
  FileWriter tokens_, index_;
  std::vector<std::byte> side_bytes_;  // one sentence in the form of the file
  Hasher64 body_hash_, block_hash_;
  std::uint64_t block_filled_ = 0;
  std::vector<std::uint64_t> block_hashes_;
  std::uint64_t pairs_ = 0, ids_ = 0;
};

}  // namespace tandem
