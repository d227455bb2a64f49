// corpus: one part (train, valid) of a prepared dataset, mapped and read-only; all processes of a
// host share its pages. Opening checks header and index by hash, the first look at a sentence its
// block of tokens, so that nothing damaged is ever trained on. The format is described byte by byte
// in docs/formats.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/files.h"
#include "data/pair_lengths.h"
#include "data/special_ids.h"

namespace tandem {

class Corpus {
 public:
  // dataset: the folder that prepare wrote; part: "train" or "valid".
  Corpus(const fs::path& dataset, const std::string& part);

  std::size_t size() const { return lengths().size(); }  // pairs
  PairLengths lengths() const { return PairLengths(bounds_); }
  PairLengths::Bounds bounds() const { return bounds_; }
  // Writes the ids of one sentence; out has room for its length. Any thread; throws as verify().
  void copy_src(std::size_t pair, std::int32_t* out) const;
  void copy_tgt(std::size_t pair, std::int32_t* out) const;

  const SpecialIds& special_ids() const { return special_; }
  std::int32_t vocab_size() const { return vocab_size_; }
  std::uint64_t vocab_hash() const { return vocab_hash_; }
  std::uint64_t fingerprint() const { return fingerprint_; }  // of the whole contents

  // Every block; throws UserError naming the damaged stretch of the file.
  void verify() const;

 private:
  void verify_block(std::size_t block) const;
  void copy(std::uint64_t begin, std::uint64_t end, std::int32_t* out) const;

  fs::path tokens_path_;
  MappedFile index_, tokens_;
  PairLengths::Bounds bounds_;
  std::span<const std::uint64_t> block_hashes_;
  std::unique_ptr<std::atomic<bool>[]> block_is_sound_;  // false: not looked at yet
  SpecialIds special_;
  std::int32_t vocab_size_ = 0;
  std::uint32_t bytes_per_id_ = 0;
  std::uint64_t vocab_hash_ = 0, fingerprint_ = 0;
};

}  // namespace tandem
