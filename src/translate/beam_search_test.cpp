#include "translate/beam_search.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "model/decode/decoder.h"
#include "model/transformer.h"

namespace tandem {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr SpecialIds kSpecial{0, 1, 2, 3};
constexpr std::int32_t kFirstWord = 4;

// Random weights, larger than a start's, so that words differ in probability. Matrices are too
// small for more than one thread.
Transformer random_model(std::int32_t vocabulary, std::uint64_t seed) {
  at::set_num_threads(1);
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.ffn = 32;
  config.encoder_layers = 1;
  config.decoder_layers = 2;
  config.norm = seed % 2 == 0 ? NormPlace::pre : NormPlace::post;
  config.tied = seed % 3 == 0 ? Tied::all : Tied::none;
  config.max_positions = 40;
  Transformer model(config, vocabulary, at::kCPU);
  model.initialize(seed);
  const at::NoGradGuard no_gradient;
  model.params().values().mul_(1.5);
  return model;
}

Ids random_source(std::int32_t vocabulary, std::uint64_t seed, std::uint64_t number,
                  std::uint64_t longest) {
  Ids ids;
  const std::uint64_t length = 1 + bounded(random_bits(seed, number, 0), longest);
  for (std::uint64_t i = 1; i <= length; ++i) {
    const auto words = static_cast<std::uint64_t>(vocabulary - kFirstWord);
    ids.push_back(kFirstWord +
                  static_cast<std::int32_t>(bounded(random_bits(seed, number, i), words)));
  }
  return ids;
}

// log of the probability of every next word behind bos and each prefix of `words`, [n + 1, V].
Tensor forced(const Transformer& model, const Ids& source, const Ids& words) {
  Batch batch;
  batch.src_ids = source;
  batch.src_ids.push_back(kSpecial.eos);
  batch.tgt_in = {kSpecial.bos};
  batch.tgt_in.insert(batch.tgt_in.end(), words.begin(), words.end());
  batch.src_offsets = {0, static_cast<std::int32_t>(batch.src_ids.size())};
  batch.tgt_offsets = {0, static_cast<std::int32_t>(batch.tgt_in.size())};
  batch.places = {0};
  return model.log_probabilities(batch);
}

double log_probability(const Transformer& model, const Ids& source, Ids words) {
  const Tensor logs = forced(model, source, words);
  words.push_back(kSpecial.eos);
  double sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    sum += logs[static_cast<std::int64_t>(i)][words[i]].item<double>();
  }
  return sum;
}

// Every sequence of words that fits, best first.
std::vector<Hypothesis> all_translations(const Transformer& model, const Ids& source,
                                         std::size_t longest, double alpha) {
  std::vector<Ids> sequences{{}};
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].size() == longest) continue;
    for (auto id = kFirstWord; id < static_cast<std::int32_t>(model.vocabulary()); ++id) {
      sequences.push_back(sequences[i]);
      sequences.back().push_back(id);
    }
  }
  std::vector<Hypothesis> all;
  for (const Ids& ids : sequences) {
    const double sum = log_probability(model, source, ids);
    all.push_back({ids, sum, sum / std::pow((6.0 + static_cast<double>(ids.size())) / 6, alpha)});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Hypothesis::score);
  return all;
}

TEST(BeamSearch, WideEnoughFindsWhatExhaustiveSearchFinds) {
  constexpr std::int32_t kVocabulary = kFirstWord + 3;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Transformer model = random_model(kVocabulary, seed);
    const double alpha = 0.4 * static_cast<double>(seed % 4);
    const Ids source = random_source(kVocabulary, seed, 0, 2);
    const auto longest = static_cast<std::size_t>(source.size()) + 2;
    const auto expected = all_translations(model, source, longest, alpha);
    // 3^4 = 81 live hypotheses are all there can be
    for (const std::int64_t n_best : {1, 6}) {
      const auto found = beam_search(model, kSpecial, {&source, 1}, {81, alpha, n_best, 2});
      ASSERT_EQ(found[0].size(), static_cast<std::size_t>(n_best));
      for (std::size_t i = 0; i < found[0].size(); ++i) {
        EXPECT_EQ(found[0][i].ids, expected[i].ids) << "seed " << seed << " place " << i;
        EXPECT_NEAR(found[0][i].score, expected[i].score, 1e-5);
      }
    }
  }
}

TEST(BeamSearch, ScoresAreThoseOfTheModel) {
  constexpr std::int32_t kVocabulary = 50;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Transformer model = random_model(kVocabulary, seed);
    std::vector<Ids> sources;
    for (std::uint64_t i = 0; i < 6; ++i) {
      sources.push_back(random_source(kVocabulary, seed, i, 8));
    }
    const auto found = beam_search(model, kSpecial, sources, {4, 0.6, 4, 10});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      ASSERT_EQ(found[i].size(), 4U);
      for (const Hypothesis& hypothesis : found[i]) {
        EXPECT_NEAR(hypothesis.log_probability, log_probability(model, sources[i], hypothesis.ids),
                    1e-4);
        const auto tokens = static_cast<std::int64_t>(hypothesis.ids.size()) + 1;
        EXPECT_DOUBLE_EQ(hypothesis.score,
                         hypothesis.log_probability / length_penalty(tokens, 0.6));
        EXPECT_LE(tokens, static_cast<std::int64_t>(sources[i].size()) + 11);
        EXPECT_TRUE(std::ranges::all_of(hypothesis.ids, [](auto id) { return id >= kFirstWord; }));
      }
      EXPECT_TRUE(std::ranges::is_sorted(found[i], std::ranges::greater{}, &Hypothesis::score));
    }
  }
}

TEST(BeamSearch, DoesNotDependOnTheNeighbours) {
  constexpr std::int32_t kVocabulary = 60;
  const Transformer model = random_model(kVocabulary, 5);
  std::vector<Ids> sources;
  for (std::uint64_t i = 0; i < 25; ++i) sources.push_back(random_source(kVocabulary, 9, i, 12));
  const SearchSettings settings{3, 0.6, 2, 8};
  const auto together = beam_search(model, kSpecial, sources, settings);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto alone = beam_search(model, kSpecial, {&sources[i], 1}, settings)[0];
    ASSERT_EQ(alone.size(), together[i].size());
    for (std::size_t k = 0; k < alone.size(); ++k) {
      EXPECT_EQ(alone[k].ids, together[i][k].ids) << i;
      EXPECT_NEAR(alone[k].score, together[i][k].score, 1e-5) << i;
    }
  }
}

TEST(BeamSearch, ASentenceMayJoinWhileOthersAreUnderWay) {
  constexpr std::int32_t kVocabulary = 60;
  const Transformer model = random_model(kVocabulary, 6);
  const Decoder decoder(model);
  ASSERT_TRUE(decoder.takes_more());
  std::vector<Ids> sources;
  for (std::uint64_t i = 0; i < 40; ++i) sources.push_back(random_source(kVocabulary, 11, i, 12));
  const SearchSettings settings{3, 0.6, 2, 8};
  const auto together = beam_search(decoder, kSpecial, sources, settings);
  BeamSearch search(decoder, kSpecial, settings);
  std::size_t added = 0, ended = 0;
  for (std::uint64_t step = 0; ended < sources.size(); ++step) {
    const std::size_t more = std::min(random_bits(12, 0, step) % 4, sources.size() - added);
    search.add(std::span(sources).subspan(added, more));
    added += more;
    if (search.live() == 0) continue;
    search.step([&](std::size_t i, const std::vector<Hypothesis>& found) {
      ++ended;
      ASSERT_EQ(found.size(), together[i].size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].ids, together[i][k].ids) << i;
        EXPECT_NEAR(found[k].score, together[i][k].score, 1e-5) << i;
      }
    });
  }
  EXPECT_EQ(search.live(), 0U);
}

TEST(BeamSearch, OfOneIsGreedyAndNeverWritesMarks) {
  constexpr std::int32_t kVocabulary = 8;
  int forbidden_first = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Transformer model = random_model(kVocabulary, seed);
    const Ids source = random_source(kVocabulary, seed, 0, 5);
    const auto found = beam_search(model, kSpecial, {&source, 1}, {1, 0.6, 1, 6})[0];
    Ids expected;
    for (std::size_t limit = source.size() + 6; expected.size() < limit;) {
      const Tensor logs =
          forced(model, source, expected)[static_cast<std::int64_t>(expected.size())];
      if (const auto first = logs.argmax().item<std::int64_t>(); first < 4 && first != 2) {
        ++forbidden_first;
      }
      for (const std::int64_t mark : {0, 1, 3}) logs[mark].fill_(-INFINITY);
      const auto word = logs.argmax().item<std::int64_t>();
      if (word == kSpecial.eos) break;
      expected.push_back(static_cast<std::int32_t>(word));
    }
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].ids, expected) << "seed " << seed;
  }
  EXPECT_GT(forbidden_first, 0);  // else nothing was tested about marks
}

TEST(BeamSearch, EndsAtTheModelsOwnLimit) {
  Transformer model = random_model(12, 4);  // not tied
  {
    const at::NoGradGuard no_gradient;  // an end mark that never comes by itself
    model.params().parameter("output.weight")[kSpecial.eos].fill_(0);
    model.params().parameter("output.weight").slice(0, 5, 12).mul_(20);
  }
  const Ids source = random_source(12, 1, 0, 5);
  const auto found = beam_search(model, kSpecial, {&source, 1}, {2, 1.0, 1, 1000})[0];
  EXPECT_LE(found[0].ids.size() + 1, 40U);
  EXPECT_TRUE(std::isfinite(found[0].score));
}

TEST(BeamSearch, OfAModelWithoutNumbersEnds) {
  Transformer model = random_model(12, 1);
  {
    const at::NoGradGuard no_gradient;
    model.params().values().fill_(NAN);
  }
  const std::vector<Ids> sources{{4, 5}, {6}};
  const auto found = beam_search(model, kSpecial, sources, {4, 0.6, 2, 5});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0][0].ids.empty());
  EXPECT_EQ(found[0][0].score, -INFINITY);
  EXPECT_TRUE(beam_search(model, kSpecial, {}, {}).empty());
}

}  // namespace
}  // namespace tandem
