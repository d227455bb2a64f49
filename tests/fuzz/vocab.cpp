// SentencePiece models from elsewhere, and text of any kind through them.
#include "data/vocab.h"

#include "base/error.h"
#include "base/protobuf.h"
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

// "a" becomes "b" (src/data/normalizer_table.h).
std::string small_table() {
  constexpr std::uint32_t kPlaceOfA = 256 ^ 'a', kLeaf = 512;
  std::vector<std::uint32_t> units(768, 1u << 31);
  units[0] = 256 << 10;
  units[kPlaceOfA] = (kPlaceOfA ^ kLeaf) << 10 | 1 << 8 | 'a';
  units[kLeaf] = 1u << 31;
  const auto bytes = static_cast<std::uint32_t>(units.size() * sizeof units[0]);
  std::string table(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  table.append(reinterpret_cast<const char*>(units.data()), bytes);
  return table + std::string("b\0", 2);
}

// With a smaller table: SentencePiece's own is thirty times as long as the rest.
std::string small_model(const std::string& model, bool with_table) {
  ProtobufMessage small;
  for_each_field(model, [&](const ProtobufField& f) {
    if (f.number != 3) {
      small.bytes(f.number, f.bytes);
    } else if (with_table) {
      small.message(3, ProtobufMessage().bytes(1, "own").bytes(2, small_table()));
    }
  });
  return small.text();
}

std::vector<std::string> vocab_seeds() {
  std::vector<std::string> seeds;
  for (const char* type : {"bpe", "unigram", "char", "word"}) {
    const std::string model = test_vocab(type, 60)->model_bytes();
    for (const bool with_table : {false, true}) {
      seeds.push_back(joined_parts(std::vector<std::string>{"ein stein a \xc3\xbc\xe2\x96\x81  x",
                                                            small_model(model, with_table)}));
    }
  }
  return seeds;
}

const FuzzTarget kVocabTarget{"vocab", read_any_vocab, vocab_seeds, 1000};

}  // namespace
}  // namespace tandem
