// decoder: a model made ready to translate. On the CPU in fp32 its weights are laid out once for
// the products of all steps; elsewhere, and in short formats, it computes by tensor operations
// (Transformer::step), which is also the oracle of the quick way. Several threads may use one
// decoder, each for batches of its own. Torch does not show.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "config/model_config.h"
#include "model/decode/word_table.h"

namespace tandem {

class Transformer;
struct EncoderWeights;
struct StepWeights;

// A batch being translated. Rows are hypotheses: at first one a sentence, without words.
class Decoding {
 public:
  virtual ~Decoding() = default;
  virtual std::size_t rows() const = 0;
  // Row i goes on from what was row from[i]: an index may occur several times (a beam widens) or
  // never (a hypothesis or a whole sentence is done). Quickest where the rows of a sentence are
  // neighbours.
  virtual void select(std::span<const std::int32_t> from) = 0;
  // last: the newest word of each row (bos at first). words: the likeliest next ones.
  virtual void step(std::span<const std::int32_t> last, WordTable& words) = 0;
};

enum class DecodeWay {
  quick,
  int8,  // quick, with matrices rounded to 8 bits
  plain
};

class Decoder {
 public:
  // The model outlives its decoder; where its weights change, a new decoder is needed. Not
  // explicit: a model can stand wherever something is to be translated once.
  Decoder(const Transformer& model, DecodeWay way = DecodeWay::quick);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const;
  std::int64_t vocabulary() const;
  bool on_cpu() const;

  // More sentences into a batch under way, where takes_more(): their rows come behind the others.
  bool takes_more() const { return weights_ != nullptr; }
  void join(Decoding& batch, std::span<const std::int32_t> ids,
            std::span<const std::int32_t> offsets) const;

  // ids with eos at each sentence's end, offsets [sentences + 1].
  std::unique_ptr<Decoding> begin(std::span<const std::int32_t> ids,
                                  std::span<const std::int32_t> offsets,
                                  const WordChoice& choice) const;

 private:
  const Transformer& model_;
  std::unique_ptr<const EncoderWeights> encoder_;  // of the quick way
  std::unique_ptr<const StepWeights> weights_;     // likewise
};

}  // namespace tandem
