#include "data/batch_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "data/sample_lengths.h"

namespace tandem {
namespace {

std::vector<Sentence> sample_sentences(std::size_t count, std::uint64_t seed,
                                       double longest = 250) {
  const auto bounds = sample_bounds(count, seed, longest);
  std::vector<std::uint32_t> pairs(count);
  std::iota(pairs.begin(), pairs.end(), 0u);
  return describe(PairLengths(bounds), pairs);
}

std::uint64_t cost_of(const std::vector<Sentence>& part) {
  std::uint64_t sum = 0;
  for (const auto& sentence : part) sum += sentence.cost;
  return sum;
}

double heaviest_to_mean(const std::vector<std::vector<Sentence>>& parts) {
  std::uint64_t most = 0, sum = 0;
  for (const auto& part : parts) {
    most = std::max(most, cost_of(part));
    sum += cost_of(part);
  }
  return static_cast<double>(most) * static_cast<double>(parts.size()) / static_cast<double>(sum);
}

// Every sentence in exactly one part, untouched, each part by ascending place.
void expect_partition(const std::vector<Sentence>& all,
                      const std::vector<std::vector<Sentence>>& parts) {
  std::vector<int> seen(all.size());
  for (const auto& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Sentence& sentence = part[i];
      const auto place = static_cast<std::size_t>(sentence.place);
      ++seen.at(place);
      EXPECT_EQ(sentence.pair, all[place].pair);
      EXPECT_EQ(sentence.cost, all[place].cost);
      EXPECT_TRUE(i == 0 || part[i - 1].place < sentence.place);
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

}  // namespace

TEST(BatchCut, LengthsOfADescribedBatchCountTheMarks) {
  const std::vector<std::uint64_t> bounds{0, 3, 8, 8, 9};  // 3 -> 5 and 0 -> 1 subwords
  const std::vector<std::uint32_t> batch{1, 0};
  const auto sentences = describe(PairLengths(bounds), batch);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].pair, 1u);
  EXPECT_EQ(sentences[0].place, 0);
  EXPECT_EQ(sentences[0].src_tokens, 1);
  EXPECT_EQ(sentences[0].tgt_tokens, 2);
  EXPECT_EQ(sentences[1].src_tokens, 4);
  EXPECT_EQ(sentences[1].tgt_tokens, 6);
  EXPECT_EQ(sentences[1].cost, 1024u * 4 + 1792u * 6 + 16 + 24 + 36);
}

TEST(BatchCut, EveryWorkerCountSharesOutTheSameSentences) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    const auto all = sample_sentences(bounded(random_bits(seed, 1, 0), 300), seed);
    for (const std::size_t workers : {1u, 2u, 3u, 8u, 400u}) {
      const auto parts = split_by_cost(all, workers);
      EXPECT_EQ(parts.size(), workers);
      expect_partition(all, parts);
    }
  }
}

// The heaviest part was the lightest when it got its cheapest sentence, which came last.
TEST(BatchCut, TheHeaviestWorkerIsWithinOneSentenceOfTheMean) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    const auto all = sample_sentences(1 + bounded(random_bits(seed, 2, 0), 300), seed);
    const std::size_t workers = 1 + bounded(random_bits(seed, 2, 1), 12);
    const auto parts = split_by_cost(all, workers);
    const auto heaviest =
        *std::max_element(parts.begin(), parts.end(),
                          [](const auto& a, const auto& b) { return cost_of(a) < cost_of(b); });
    const auto cheapest =
        std::min_element(heaviest.begin(), heaviest.end(),
                         [](const Sentence& a, const Sentence& b) { return a.cost < b.cost; })
            ->cost;
    const double mean = static_cast<double>(cost_of(all)) / static_cast<double>(workers);
    EXPECT_LT(static_cast<double>(cost_of(heaviest)), mean + static_cast<double>(cheapest));
  }
}

TEST(BatchCut, EightWorkersAreBalancedWithinTwoPercentFrom25SentencesEach) {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    worst = std::max(worst, heaviest_to_mean(split_by_cost(sample_sentences(200, seed), 8)));
  }
  EXPECT_LT(worst, 1.02);
}

TEST(BatchCut, ARealisticBatchIsBalancedWithinTwoThousandths) {
  double worst = 0;  // 25 000 target tokens are about 850 sentences
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    worst = std::max(worst, heaviest_to_mean(split_by_cost(sample_sentences(850, seed), 8)));
  }
  EXPECT_LT(worst, 1.002);
}

TEST(BatchCut, FewerSentencesThanWorkersLeaveSomeWithNothing) {
  const auto parts = split_by_cost(sample_sentences(3, 1), 8);
  EXPECT_EQ(std::count_if(parts.begin(), parts.end(), [](const auto& p) { return p.empty(); }), 5);
  EXPECT_TRUE(split_by_tokens(parts.back(), 100).empty());
}

TEST(BatchCut, MicroBatchesKeepTheBoundUnlessOneSentenceBreaksIt) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    const auto all = sample_sentences(1 + bounded(random_bits(seed, 3, 0), 400), seed);
    const auto most = static_cast<std::int64_t>(1 + bounded(random_bits(seed, 3, 1), 2000));
    const auto parts = split_by_tokens(all, most);
    expect_partition(all, parts);
    for (const auto& part : parts) {
      std::int64_t src = 0, tgt = 0;
      for (const auto& sentence : part) {
        src += sentence.src_tokens;
        tgt += sentence.tgt_tokens;
      }
      EXPECT_FALSE(part.empty());
      EXPECT_TRUE(part.size() == 1 || (src <= most && tgt <= most)) << src << " " << tgt;
    }
  }
}

TEST(BatchCut, MicroBatchesAreFewAndAlike) {
  const auto all = sample_sentences(850, 8);
  std::int64_t src = 0, tgt = 0;
  for (const auto& sentence : all) {
    src += sentence.src_tokens;
    tgt += sentence.tgt_tokens;
  }
  const auto parts = split_by_tokens(all, 4096);
  EXPECT_LE(parts.size(), static_cast<std::size_t>(std::max(src, tgt) / 4096 + 2));
  EXPECT_LT(heaviest_to_mean(parts), 1.01);
}

TEST(BatchCut, SentencesThatEachNeedTheirOwnMicroBatchAreQuicklyDivided) {
  std::vector<Sentence> all;
  for (std::int32_t i = 0; i < 3000; ++i) {
    const std::int32_t tokens = 51 + i % 49;
    all.push_back({0, i, tokens, tokens, CostModel{}(51, 51)});
  }
  EXPECT_EQ(split_by_tokens(all, 100).size(), 3000u);
}

}  // namespace tandem
