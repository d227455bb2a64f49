// SentencePiece models from elsewhere, and text of any kind through them.
#include "data/vocab.h"

#include "base/error.h"
#include "data/test_text.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

void read_any_vocab(std::string_view input) {
  const auto parts = split_parts(input, 2);
  const auto vocab = Vocab::from_bytes(std::string(parts[1]), "x.model");
  std::vector<std::int32_t> ids;
  vocab->encode(parts[0], ids);
  for (const std::int32_t id : ids) check(id >= 0 && id < vocab->size(), "an id outside");
  vocab->decode(ids);
  vocab->encode_as_pieces(parts[0]);
  vocab->piece_table();
  std::vector<std::int32_t> sampled;
  vocab->sample(ids, {0.1, {}}, 7, sampled);
}

std::vector<std::string> vocab_seeds() {
  std::vector<std::string> seeds;
  for (const char* type : {"bpe", "unigram", "char", "word"}) {
    const std::string model = test_vocab(type, 60)->model_bytes();
    seeds.push_back(
        joined_parts(std::vector<std::string>{"ein stein \xc3\xbc\xe2\x96\x81  x", model}));
  }
  return seeds;
}

const FuzzTarget kVocabTarget{"vocab", read_any_vocab, vocab_seeds, 300};

}  // namespace
}  // namespace tandem
