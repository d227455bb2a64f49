#include "data/vocab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/hash.h"
#include "data/test_text.h"

namespace tandem {
namespace {

class VocabOfType : public testing::TestWithParam<const char*> {};

TEST_P(VocabOfType, HasTheSpecialIdsWeAskFor) {
  const auto vocab = test_vocab(GetParam());
  EXPECT_EQ(vocab->special_ids(), (SpecialIds{0, 1, 2, 3}));
  EXPECT_EQ(vocab->type(), GetParam());
  EXPECT_LE(vocab->size(), 120);
  EXPECT_EQ(vocab->piece(1), "<s>");
}

TEST_P(VocabOfType, DecodingGivesBackTheLine) {
  const auto vocab = test_vocab(GetParam());
  std::vector<std::int32_t> ids;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string line = test_line(99, i);
    vocab->encode(line, ids);
    EXPECT_EQ(vocab->decode(ids), line);
    EXPECT_EQ(vocab->decode_pieces(vocab->encode_as_pieces(line)), line);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, VocabOfType, testing::Values("bpe", "unigram"));

TEST(Vocab, TrainingIsDeterministic) {
  EXPECT_EQ(test_vocab("bpe")->hash(), test_vocab("bpe")->hash());
}

TEST(Vocab, AModelCutAnywhereIsRefusedOrWorks) {
  const auto whole = test_vocab("bpe");
  for (std::size_t size = 0; size < whole->model_bytes().size(); size += 7) {
    try {
      std::vector<std::int32_t> ids;
      const auto cut = Vocab::from_bytes(whole->model_bytes().substr(0, size), "cut.model");
      cut->encode("a b", ids);
      EXPECT_NE(cut->hash(), whole->hash());  // so a dataset would not take it for the other
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("cut.model"), std::string::npos);
    }
  }
}

TEST(Vocab, AByteOfAPieceThatIsNoneIsRefused) {  // the library throws an exception of its own
  std::string bytes(test_vocab("unigram")->model_bytes());
  const std::size_t piece = bytes.find("\xe2\x96\x81");
  ASSERT_NE(piece, std::string::npos);
  bytes[piece] = '\0';
  EXPECT_THROW(Vocab::from_bytes(bytes, "odd.model"), UserError);
}

TEST(Vocab, TextIsNoModel) {
  EXPECT_THROW(Vocab::from_bytes("this is just a text file\n", "x"), UserError);
  EXPECT_THROW(Vocab::from_bytes("", "x"), UserError);
}

TEST(Vocab, IdsOutsideAreRefused) {
  const auto vocab = test_vocab("bpe");
  EXPECT_THROW(vocab->decode(std::vector<std::int32_t>{-1}), UserError);
  EXPECT_THROW(vocab->decode(std::vector<std::int32_t>{vocab->size()}), UserError);
}

TEST(Vocab, ATextThatIsTooSmallGivesFewerPieces) {
  for (const char* type : {"bpe", "unigram"}) {
    const auto vocab = test_vocab(type, 100000);
    EXPECT_GT(vocab->size(), 120);
    EXPECT_LT(vocab->size(), 10000);
  }
}

TEST(Vocab, AVocabularyTooSmallForTheLettersIsRefusedInOneSentence) {
  for (const char* type : {"bpe", "unigram"}) {
    try {
      test_vocab(type, 8);
      FAIL();
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::MatchesRegex(
                                    "a vocabulary of 8 pieces is too small for this text, whose "
                                    "characters alone need [0-9]+; set a larger --vocab-size "
                                    "or a lower --character-coverage"));
    }
  }
}

}  // namespace
}  // namespace tandem
