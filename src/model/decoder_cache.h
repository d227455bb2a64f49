// decoder_cache: what decoding remembers between steps: keys and values of the source sentences and
// of the words written so far. Rows are hypotheses. Keys and values are never moved: a row is a
// list of places, so that beams are reordered, repeated and dropped by copying integers, and beams
// of one sentence share its source.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/tensor.h"

namespace tandem {

class DecoderCache {
 public:
  // cross_kv: one [Ns, 2D] a decoder layer; source_offsets [B+1]. One row a sentence at first.
  DecoderCache(std::vector<Tensor> cross_kv, std::vector<std::int32_t> source_offsets);

  std::size_t rows() const { return sentences_.size(); }
  std::int64_t length() const { return length_; }  // words written so far, equal for all rows
  std::int32_t sentence(std::size_t row) const { return sentences_[row]; }

  // Row i goes on from what was row from[i]: an index may occur several times (a beam widens) or
  // never (a hypothesis or a whole sentence is done).
  void select(std::span<const std::int32_t> from);

  // For the model. begin_step: makes room for one word in every row. Then, for each layer in
  // order, add() stores keys and values [rows, 2D] of the new words.
  void begin_step();
  void add(std::size_t layer, const Tensor& kv);
  struct Listed {
    Tensor kv, places, offsets;  // see listed_attention()
  };
  Listed written(std::size_t layer) const;
  Listed source(std::size_t layer) const;

 private:
  std::vector<Tensor> cross_kv_;
  std::vector<std::int32_t> source_offsets_;
  std::vector<std::int32_t> sentences_;               // of each row
  std::vector<std::vector<std::int32_t>> histories_;  // of each row: places in written_
  std::int64_t length_ = 0;
  std::int64_t used_ = 0, step_begin_ = 0;  // places in written_
  std::vector<Tensor> written_;             // a layer: [capacity, 2D]
  Tensor written_places_, written_offsets_;
  Tensor source_places_, source_row_offsets_;
};

}  // namespace tandem
