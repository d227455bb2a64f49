#include "data/resample.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/corpus.h"
#include "data/corpus_writer.h"
#include "data/loader.h"
#include "data/test_text.h"

namespace tandem {
namespace {

using Ids = std::vector<std::int32_t>;

// Text of a vocabulary of its own: line 2i and 2i + 1 are pair i.
struct ResampleText {
  explicit ResampleText(const std::string& type) : vocab(test_vocab(type)) {
    CorpusWriter writer(folder.path(), "train", vocab->facts());
    Ids src, tgt;
    for (std::uint64_t i = 0; i < 200; ++i) {
      vocab->encode(test_line(9, 2 * i), src);
      vocab->encode(test_line(9, 2 * i + 1), tgt);
      writer.add(src, tgt);
    }
    writer.finish();
  }
  Corpus corpus() const { return Corpus(folder.path(), "train"); }

  TemporaryFolder folder;
  std::shared_ptr<const Vocab> vocab;
};

LoaderSetting resample_setting(const ResampleText& text, std::size_t rank, std::size_t world) {
  LoaderSetting setting;
  setting.seed = 3;
  setting.batch = {BatchUnit::sentences, 30, 256};
  setting.cut.slot = {rank, world};
  setting.cut.max_tokens_per_micro = 900;
  setting.sampling.emplace(0.2);
  setting.vocab = text.vocab;
  return setting;
}

using PairText = std::pair<Ids, Ids>;  // ids of source and target, with marks

void add_pairs(const StepBatch& step, std::map<std::int32_t, PairText>& by_place) {
  for (const Batch& batch : step.micro) {
    for (std::size_t i = 0; i < batch.sentences(); ++i) {
      const auto stretch = [i](const Ids& ids, const Ids& offsets) {
        return Ids(ids.begin() + offsets[i], ids.begin() + offsets[i + 1]);
      };
      by_place[batch.places[i]] = {stretch(batch.src_ids, batch.src_offsets),
                                   stretch(batch.tgt_out, batch.tgt_offsets)};
    }
  }
}

}  // namespace

class ResampleTest : public testing::TestWithParam<const char*> {};

TEST_P(ResampleTest, ASampleIsAFunctionOfItsKeyAndTheSameText) {
  const ResampleText text(GetParam());
  const SubwordSampling sampling{0.2, {}};
  std::set<Ids> different;
  Ids ids, sample, again, other;
  for (std::uint64_t line = 0; line < 50; ++line) {
    text.vocab->encode(test_line(11, line), ids);
    ASSERT_TRUE(text.vocab->sample(ids, sampling, line, sample));
    ASSERT_TRUE(text.vocab->sample(ids, sampling, line + 1000, other));  // moves the generator
    ASSERT_TRUE(text.vocab->sample(ids, sampling, line, again));
    EXPECT_EQ(sample, again);
    EXPECT_EQ(text.vocab->decode(sample), text.vocab->decode(ids));
    if (sample != ids) different.insert(sample);
  }
  EXPECT_GT(different.size(), 25u);
}

TEST_P(ResampleTest, StepsHaveTheSameTextForAnyNumberOfWorkersAndFromAnyPosition) {
  const ResampleText text(GetParam());
  const Corpus corpus = text.corpus();
  Loader alone(corpus, resample_setting(text, 0, 1), {});
  LoaderSetting plain_setting = resample_setting(text, 0, 1);
  plain_setting.sampling.reset();
  Loader plain(corpus, plain_setting, {});
  std::size_t changed = 0;
  for (int i = 0; i < 10; ++i) {  // over a border of epochs
    const StepBatch whole = alone.next();
    std::map<std::int32_t, PairText> expected, together, stored;
    add_pairs(whole, expected);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      Loader part(corpus, resample_setting(text, rank, 3), whole.cursor);
      add_pairs(part.next(), together);
    }
    ASSERT_EQ(together, expected);
    for (const Batch& batch : whole.micro) {
      ASSERT_LE(batch.src_ids.size(), 900u);
      ASSERT_LE(batch.tgt_in.size(), 900u);
    }
    add_pairs(plain.next(), stored);
    ASSERT_EQ(stored.size(), expected.size());
    for (const auto& [place, pair] : stored) {
      const auto& [src, tgt] = expected.at(place);
      ASSERT_EQ(text.vocab->decode(src), text.vocab->decode(pair.first));
      ASSERT_EQ(text.vocab->decode(tgt), text.vocab->decode(pair.second));
      changed += src != pair.first ? 1u : 0u;
    }
  }
  EXPECT_GT(changed, 150u);  // of 290
}

INSTANTIATE_TEST_SUITE_P(Types, ResampleTest, testing::Values("bpe", "unigram"));

TEST(Resample, ALongerSampleThanAllowedIsNotTaken) {
  const ResampleText text("bpe");
  const Corpus corpus = text.corpus();
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t pair = 0; pair < corpus.size(); ++pair) pairs.push_back(pair);
  auto sentences = measure_sentences(corpus.lengths(), pairs);
  const auto stored = sentences;
  std::int32_t longest = 0;
  for (const Sentence& sentence : stored) {
    longest = std::max({longest, sentence.src_tokens, sentence.tgt_tokens});
  }
  const Resampler resampler(text.vocab, {0.9, {}}, 1, longest);
  resampler(corpus, {}, {}, sentences);
  std::size_t kept = 0, longer = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_LE(sentences[i].src_tokens, longest);
    EXPECT_LE(sentences[i].tgt_tokens, longest);
    kept += sentences[i].src_tokens == stored[i].src_tokens ? 1u : 0u;
    longer += sentences[i].src_tokens > stored[i].src_tokens ? 1u : 0u;
  }
  EXPECT_GT(kept, 20u);
  EXPECT_GT(longer, 20u);
}

TEST(Resample, TextWithAnUnknownCharacterStaysAsItIs) {
  const ResampleText text("bpe");
  Ids ids, sample;
  text.vocab->encode("ab \xe6\xbc\xa2 de", ids);
  EXPECT_FALSE(text.vocab->sample(ids, {}, 1, sample));
}

TEST(Resample, RefusesWhatSentencePieceCannotSample) {
  const ResampleText text("bpe");
  EXPECT_THROW(Resampler(text.vocab, {0.1, 64}, 1, 100), UserError);
  EXPECT_THROW(Resampler(test_vocab("char"), {0.1, {}}, 1, 100), UserError);
}

}  // namespace tandem
