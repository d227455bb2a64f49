// vocab: a SentencePiece model: text to subword ids and back, exactly as SentencePiece's own tools
// do. SentencePiece stays in vocab.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus_writer.h"
#include "data/special_ids.h"

namespace tandem {

// How SentencePiece chooses a segmentation at random.
struct SubwordSampling {
  // bpe: the share of merges that are left out (BPE-dropout). unigram: segmentations are chosen by
  // their probability to this power; 0: all alike.
  double alpha = 0.1;
  std::optional<std::int32_t> nbest = {};  // unigram: among so many best ones; none: among all
};

class Vocab {
 public:
  // Throws UserError when the file is no SentencePiece model.
  static std::shared_ptr<const Vocab> load(const std::filesystem::path& model);
  static std::shared_ptr<const Vocab> from_bytes(std::string model, const std::string& name);
  ~Vocab();

  void encode(std::string_view line, std::vector<std::int32_t>& ids) const;
  std::vector<std::string> encode_as_pieces(std::string_view line) const;
  std::string decode(std::span<const std::int32_t> ids) const;  // ids outside are a UserError
  // The text of the ids in other subwords, a function of key alone (with one version of
  // SentencePiece). False where the text cannot be had from the ids (an unknown character).
  bool sample(std::span<const std::int32_t> ids, const SubwordSampling& sampling, std::uint64_t key,
              std::vector<std::int32_t>& sampled) const;
  std::string decode_pieces(const std::vector<std::string>& pieces) const;

  std::int32_t size() const;
  const std::string& piece(std::int32_t id) const;
  const SpecialIds& special_ids() const { return special_; }
  std::uint64_t hash() const { return hash_; }  // of the model file
  VocabFacts facts() const { return {special_, size(), hash_}; }
  const std::string& type() const { return type_; }  // "bpe", "unigram", "word", "char"
  const std::string& model_bytes() const { return bytes_; }
  std::string piece_table() const;  // what SentencePiece writes as .vocab: piece, tab, score

  // True when a line is encoded word by word, so that words may be remembered (word_cache.h).
  bool words_are_independent() const { return words_are_independent_; }

 private:
  struct Impl;
  Vocab(std::string bytes, const std::string& name);
  std::string joined_pieces(std::span<const std::int32_t> ids) const;
  std::unique_ptr<Impl> impl_;
  std::string bytes_, type_;
  SpecialIds special_;
  std::uint64_t hash_ = 0;
  bool words_are_independent_ = false;
};

struct VocabTraining {
  std::string type = "bpe";  // or "unigram"
  std::int32_t size = 8000;  // pieces, special ones included
  double character_coverage = 0.9999;
};

// Trains a model on the lines that next_line gives until it returns false, one at least. Special
// ids are explicit: pad 0, bos 1, eos 2, unk 3. Returns the bytes of the .model file, a function of
// the lines and of what is asked for.
std::string train_vocab(const VocabTraining& training,
                        const std::function<bool(std::string& line)>& next_line);

}  // namespace tandem
