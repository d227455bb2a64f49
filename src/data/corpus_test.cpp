#include "data/corpus.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/rng.h"
#include "base/temporary_folder.h"
#include "data/corpus_writer.h"

namespace tandem {
namespace {

using Ids = std::vector<std::int32_t>;
using Pairs = std::vector<std::pair<Ids, Ids>>;

Ids random_ids(std::uint64_t seed, std::uint64_t stream, std::size_t length, std::uint64_t vocab) {
  Ids ids(length);
  for (std::size_t i = 0; i < length; ++i) {
    ids[i] = static_cast<std::int32_t>(bounded(random_bits(seed, stream, i), vocab));
  }
  return ids;
}

Pairs random_pairs(std::size_t count, std::uint64_t vocab) {
  Pairs pairs;
  for (std::uint64_t i = 0; i < count; ++i) {
    pairs.emplace_back(random_ids(1, 2 * i, random_bits(2, 0, i) % 40, vocab),
                       random_ids(1, 2 * i + 1, random_bits(2, 1, i) % 40, vocab));
  }
  return pairs;
}

std::uint64_t write(const fs::path& folder, const Pairs& pairs, std::int32_t vocab_size) {
  CorpusWriter writer(folder, "train", {{0, 1, 2, 3}, vocab_size, 0xabcdu});
  for (const auto& [src, tgt] : pairs) writer.add(src, tgt);
  return writer.finish();
}

void flip_bit(const fs::path& path, std::size_t bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const char byte = static_cast<char>(file.get() ^ (1 << (bit % 8)));
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(byte);
}

class CorpusRoundTrip : public testing::TestWithParam<std::int32_t> {};

TEST_P(CorpusRoundTrip, GivesBackEverySentence) {
  const TemporaryFolder folder;
  const auto pairs = random_pairs(3000, static_cast<std::uint64_t>(GetParam()));
  const std::uint64_t fingerprint = write(folder.path(), pairs, GetParam());
  const Corpus corpus(folder.path(), "train");
  ASSERT_EQ(corpus.size(), pairs.size());
  EXPECT_EQ(corpus.fingerprint(), fingerprint);
  EXPECT_EQ(corpus.special_ids(), (SpecialIds{0, 1, 2, 3}));
  EXPECT_EQ(corpus.vocab_hash(), 0xabcdu);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Ids src(corpus.lengths().src(i)), tgt(corpus.lengths().tgt(i));
    corpus.copy_src(i, src.data());
    corpus.copy_tgt(i, tgt.data());
    ASSERT_EQ(src, pairs[i].first);
    ASSERT_EQ(tgt, pairs[i].second);
  }
  EXPECT_NO_THROW(corpus.verify());
}

// Two bytes an id up to 65536, four beyond.
INSTANTIATE_TEST_SUITE_P(VocabSizes, CorpusRoundTrip, testing::Values(50, 65536, 65537, 200000));

TEST(Corpus, AnEmptyOneIsReadable) {
  const TemporaryFolder folder;
  write(folder.path(), {}, 10);
  EXPECT_EQ(Corpus(folder.path(), "train").size(), 0u);
}

TEST(Corpus, EveryFlippedBitOfTheIndexIsFoundOnOpening) {
  const TemporaryFolder folder;
  write(folder.path(), random_pairs(20, 100), 100);
  const fs::path index = folder.path() / "train.index";
  const std::size_t bits = fs::file_size(index) * 8;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    flip_bit(index, bit);
    EXPECT_THROW(Corpus(folder.path(), "train"), UserError) << "bit " << bit;
    flip_bit(index, bit);
  }
  EXPECT_NO_THROW(Corpus(folder.path(), "train"));
}

TEST(Corpus, EveryFlippedBitOfTheTokensIsFoundWhenVerified) {
  const TemporaryFolder folder;
  write(folder.path(), random_pairs(20, 100), 100);
  const fs::path tokens = folder.path() / "train.tokens";
  const std::size_t bits = fs::file_size(tokens) * 8;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    flip_bit(tokens, bit);
    EXPECT_THROW(Corpus(folder.path(), "train").verify(), UserError) << "bit " << bit;
    flip_bit(tokens, bit);
  }
  EXPECT_NO_THROW(Corpus(folder.path(), "train").verify());
}

TEST(Corpus, AFileCutAtAnyByteIsRefused) {
  const TemporaryFolder folder;
  write(folder.path(), random_pairs(5, 100), 100);
  for (const char* name : {"train.index", "train.tokens"}) {
    const fs::path path = folder.path() / name;
    const std::string whole = read_file(path);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      std::ofstream(path, std::ios::binary) << whole.substr(0, size);
      EXPECT_THROW(Corpus(folder.path(), "train"), UserError) << name << " cut to " << size;
    }
    std::ofstream(path, std::ios::binary) << whole;
  }
}

TEST(Corpus, DamageIsLocatedInItsBlock) {
  const TemporaryFolder folder;
  Pairs pairs;
  for (std::uint64_t i = 0; i < 40; ++i) pairs.emplace_back(random_ids(1, i, 50000, 100), Ids{1});
  write(folder.path(), pairs, 100);
  flip_bit(folder.path() / "train.tokens", (std::size_t{1} << 20) * 8 * 2 + 5);
  try {
    Corpus(folder.path(), "train").verify();
    FAIL() << "the damage was not found";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("between bytes 2097152 and 3145728"),
              std::string::npos)
        << error.what();
  }
}

TEST(Corpus, FingerprintDependsOnContentsAndVocabulary) {
  const TemporaryFolder a, b, c;
  Pairs pairs = random_pairs(50, 100);
  const auto original = write(a.path(), pairs, 100);
  EXPECT_EQ(write(b.path(), pairs, 100), original);
  pairs.back().second.push_back(7);
  EXPECT_NE(write(b.path(), pairs, 100), original);
  CorpusWriter other_vocab(c.path(), "train", {{0, 1, 2, 3}, 100, 0xabceu});
  for (const auto& [src, tgt] : random_pairs(50, 100)) other_vocab.add(src, tgt);
  EXPECT_NE(other_vocab.finish(), original);
}

}  // namespace
}  // namespace tandem
