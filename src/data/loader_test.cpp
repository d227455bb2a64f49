#include "data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/temporary_folder.h"
#include "data/corpus.h"
#include "data/corpus_writer.h"
#include "data/sample_lengths.h"

namespace tandem {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr SpecialIds kSpecial{0, 1, 2, 3};

// A real corpus on disk whose sentences tell where they come from: pair i has ids 100 + i in its
// source and 200 + i in its target.
class SampleCorpus {
 public:
  explicit SampleCorpus(std::size_t pairs, SpecialIds special = kSpecial) {
    CorpusWriter writer(folder_.path(), "train", {special, 100000, 1});
    const auto bounds = sample_bounds(pairs, 6, 60);
    const PairLengths lengths(bounds);
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto id = static_cast<std::int32_t>(i);
      writer.add(Ids(lengths.src(i), 100 + id), Ids(lengths.tgt(i), 200 + id));
    }
    writer.finish();
    corpus_.emplace(folder_.path(), "train");
  }
  const Corpus& operator*() const { return *corpus_; }

 private:
  TemporaryFolder folder_;
  std::optional<Corpus> corpus_;
};

LoaderSetting setting_of(std::size_t rank = 0, std::size_t world = 1,
                         BatchSetting batch = {BatchUnit::tokens, 600, 61}) {
  LoaderSetting setting;
  setting.seed = 5;
  setting.batch = batch;
  setting.cut.slot = {rank, world};
  setting.cut.max_tokens_per_micro = 150;
  setting.steps_ahead = 3;
  return setting;
}

struct Pair {
  Ids src, tgt_in, tgt_out;
  bool operator==(const Pair&) const = default;
};

// The sentences of a step by place in the global batch; no place may come twice.
void add_sentences(const StepBatch& step, std::map<std::int32_t, Pair>& by_place) {
  for (const Batch& batch : step.micro) {
    ASSERT_EQ(batch.src_offsets.size(), batch.sentences() + 1);
    ASSERT_EQ(batch.tgt_offsets.size(), batch.sentences() + 1);
    ASSERT_EQ(static_cast<std::size_t>(batch.src_offsets.back()), batch.src_ids.size());
    ASSERT_EQ(static_cast<std::size_t>(batch.tgt_offsets.back()), batch.tgt_in.size());
    ASSERT_EQ(batch.tgt_in.size(), batch.tgt_out.size());
    const auto stretch = [](const Ids& ids, const Ids& offsets, std::size_t i) {
      return Ids(ids.begin() + offsets[i], ids.begin() + offsets[i + 1]);
    };
    for (std::size_t i = 0; i < batch.sentences(); ++i) {
      const bool added =
          by_place
              .emplace(batch.places[i], Pair{stretch(batch.src_ids, batch.src_offsets, i),
                                             stretch(batch.tgt_in, batch.tgt_offsets, i),
                                             stretch(batch.tgt_out, batch.tgt_offsets, i)})
              .second;
      ASSERT_TRUE(added) << "place " << batch.places[i] << " twice";
    }
  }
}

std::map<std::int32_t, Pair> sentences_of(const StepBatch& step) {
  std::map<std::int32_t, Pair> by_place;
  add_sentences(step, by_place);
  return by_place;
}

}  // namespace

TEST(Batch, IsTheTextOfTheCorpusWithItsMarks) {
  const SampleCorpus corpus(40);
  const PairLengths lengths = (*corpus).lengths();
  const std::vector<std::uint32_t> pairs{7, 0, 39};
  const Batch batch = pack(*corpus, measure_sentences(lengths, pairs));
  StepBatch step;
  step.micro.push_back(batch);
  const auto sentences = sentences_of(step);
  ASSERT_EQ(sentences.size(), 3u);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto id = static_cast<std::int32_t>(pairs[i]);
    Pair expected{Ids(lengths.src(pairs[i]), 100 + id), Ids(lengths.tgt(pairs[i]), 200 + id),
                  Ids(lengths.tgt(pairs[i]), 200 + id)};
    expected.src.push_back(kSpecial.eos);
    expected.tgt_in.insert(expected.tgt_in.begin(), kSpecial.bos);
    expected.tgt_out.push_back(kSpecial.eos);
    EXPECT_EQ(sentences.at(static_cast<std::int32_t>(i)), expected);
  }
}

TEST(Batch, OfNoSentencesIsEmptyButWellFormed) {
  const SampleCorpus corpus(1);
  const Batch batch = pack(*corpus, {});
  EXPECT_EQ(batch.sentences(), 0u);
  EXPECT_EQ(batch.src_offsets, Ids{0});
  EXPECT_EQ(batch.tgt_offsets, Ids{0});
}

TEST(Loader, WorkersShareOutTheSentencesThatOneWouldGet) {
  const SampleCorpus corpus(700);
  for (const BatchSetting batch :
       {BatchSetting{BatchUnit::tokens, 600, 61}, BatchSetting{BatchUnit::sentences, 48, 61}}) {
    for (const std::size_t world : {2u, 3u, 8u}) {
      Loader alone(*corpus, setting_of(0, 1, batch), {});
      std::vector<std::unique_ptr<Loader>> ranks;
      for (std::size_t rank = 0; rank < world; ++rank) {
        ranks.push_back(
            std::make_unique<Loader>(*corpus, setting_of(rank, world, batch), DataCursor{}));
      }
      for (int i = 0; i < 60; ++i) {  // over two borders of epochs
        SCOPED_TRACE(format("world {} step {}", world, i));
        const StepBatch whole = alone.next();
        std::map<std::int32_t, Pair> together;
        for (auto& rank : ranks) {
          const StepBatch part = rank->next();
          EXPECT_EQ(part.cursor, whole.cursor);
          EXPECT_EQ(part.after, whole.after);
          EXPECT_EQ(part.sentences, whole.sentences);
          EXPECT_EQ(part.src_tokens, whole.src_tokens);
          EXPECT_EQ(part.tgt_tokens, whole.tgt_tokens);
          add_sentences(part, together);
        }
        ASSERT_EQ(together, sentences_of(whole));
      }
    }
  }
}

// Over a border of epochs, from any position, with any number of workers.
TEST(Loader, AMixtureIsSharedOutAndResumedLikeACorpus) {
  const SampleCorpus first(150), second(400);
  const std::vector<Mixture::Part> parts{{&*first, 2.5}, {&*second, 0.5}};
  const Mixture mixture(parts);
  EXPECT_EQ(mixture.size(), 550u);
  Loader alone(mixture, setting_of(), {});
  std::vector<StepBatch> steps;
  while (steps.empty() || steps.back().cursor.epoch < 2) steps.push_back(alone.next());
  for (std::size_t i = 0; i + 1 < steps.size(); i += 3) {
    const std::size_t world = 1 + i % 4;
    std::map<std::int32_t, Pair> together;
    for (std::size_t rank = 0; rank < world; ++rank) {
      Loader part(mixture, setting_of(rank, world), steps[i].after);
      const StepBatch step = part.next();
      EXPECT_EQ(step.cursor, steps[i + 1].cursor);
      add_sentences(step, together);
    }
    ASSERT_EQ(together, sentences_of(steps[i + 1]));
  }
}

TEST(Mixture, HasTheSentencesOfItsCorporaOneBehindTheOther) {
  const SampleCorpus first(5), second(7), third(3);
  const std::vector<Mixture::Part> parts{{&*first, 1}, {&*second, 1}, {&*third, 1}};
  const Mixture mixture(parts);
  ASSERT_EQ(mixture.size(), 15u);
  std::size_t pair = 0;
  for (const auto& [corpus, weight] : parts) {
    for (std::size_t i = 0; i < corpus->size(); ++i, ++pair) {
      ASSERT_EQ(mixture.lengths().src(pair), corpus->lengths().src(i));
      ASSERT_EQ(mixture.lengths().tgt(pair), corpus->lengths().tgt(i));
      Ids expected(corpus->lengths().src(i)), found(expected.size());
      corpus->copy_src(i, expected.data());
      mixture.copy_src(pair, found.data());
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(Mixture, FingerprintTellsContentsWeightsAndOrder) {
  const SampleCorpus first(5), second(7);
  const auto fingerprint = [](std::vector<Mixture::Part> parts) {
    return Mixture(parts).fingerprint();
  };
  EXPECT_EQ(fingerprint({{&*first, 1}}), (*first).fingerprint());
  const std::set<std::uint64_t> all{(*first).fingerprint(), fingerprint({{&*first, 2}}),
                                    fingerprint({{&*first, 1}, {&*second, 1}}),
                                    fingerprint({{&*second, 1}, {&*first, 1}}),
                                    fingerprint({{&*first, 1}, {&*second, 1.5}})};
  EXPECT_EQ(all.size(), 5u);
}

TEST(Loader, TotalsOfAStepAreThoseOfItsSentences) {
  const SampleCorpus corpus(300);
  Loader loader(*corpus, setting_of(), {});
  for (int i = 0; i < 30; ++i) {
    const StepBatch step = loader.next();
    std::size_t sentences = 0, src = 0, tgt = 0;
    for (const Batch& batch : step.micro) {
      sentences += batch.sentences();
      src += batch.src_ids.size();
      tgt += batch.tgt_out.size();
    }
    EXPECT_EQ(static_cast<std::size_t>(step.sentences), sentences);
    EXPECT_EQ(static_cast<std::size_t>(step.src_tokens), src);
    EXPECT_EQ(static_cast<std::size_t>(step.tgt_tokens), tgt);
    EXPECT_LE(step.tgt_tokens, 600);
  }
}

TEST(Loader, GoesOnFromAnyPositionAlsoWithOtherWorkers) {
  const SampleCorpus corpus(400);
  std::vector<StepBatch> steps;
  Loader all(*corpus, setting_of(), {});
  while (steps.empty() || steps.back().cursor.epoch < 2) steps.push_back(all.next());
  for (std::size_t i = 0; i + 2 < steps.size(); ++i) {
    SCOPED_TRACE(format("after step {}", i));
    const std::size_t world = 1 + i % 3;
    std::vector<std::unique_ptr<Loader>> ranks;
    for (std::size_t rank = 0; rank < world; ++rank) {
      ranks.push_back(std::make_unique<Loader>(*corpus, setting_of(rank, world), steps[i].after));
    }
    for (std::size_t ahead = 1; ahead <= 2; ++ahead) {
      std::map<std::int32_t, Pair> together;
      for (auto& rank : ranks) {
        const StepBatch part = rank->next();
        EXPECT_EQ(part.cursor, steps[i + ahead].cursor);
        add_sentences(part, together);
      }
      ASSERT_EQ(together, sentences_of(steps[i + ahead]));
    }
  }
}

TEST(Loader, EpochsFollowOneAnotherEachInItsOwnOrder) {
  const SampleCorpus corpus(200);
  Loader loader(*corpus, setting_of(), {});
  std::vector<Ids> orders;
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    Ids order;  // told by the first source id, which is the pair's own
    for (std::int64_t next = 0;; ++next) {
      const StepBatch step = loader.next();
      EXPECT_EQ(step.cursor, (DataCursor{epoch, next}));
      for (const auto& [place, pair] : sentences_of(step)) order.push_back(pair.src.front());
      if (step.after.epoch != epoch) {
        EXPECT_EQ(step.batches_in_epoch, next + 1);
        break;
      }
    }
    orders.push_back(order);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), 200u);
    EXPECT_EQ(std::unique(order.begin(), order.end()), order.end());
  }
  std::sort(orders.begin(), orders.end());
  EXPECT_EQ(std::unique(orders.begin(), orders.end()), orders.end());
}

// Whether the next epoch is planned ahead (the thread had to wait in this one) or at its border.
TEST(Loader, GivesTheStepsOfThePlansToAHastyAndToASlowTrainer) {
  const SampleCorpus corpus(200);
  const LoaderSetting setting = setting_of();
  for (const auto pause : {std::chrono::milliseconds(0), std::chrono::milliseconds(2)}) {
    Loader loader(*corpus, setting, {});
    std::this_thread::sleep_for(pause * 20);  // time to fill the queue
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      const BatchPlan plan((*corpus).lengths(),
                           {(*corpus).fingerprint(), setting.seed, epoch, setting.batch});
      for (std::size_t b = 0; b < plan.batches(); ++b) {
        const DataCursor cursor{epoch, static_cast<std::int64_t>(b)};
        const StepBatch step = loader.next();
        EXPECT_EQ(step.cursor, cursor);
        ASSERT_EQ(sentences_of(step), sentences_of(make_step(*corpus, plan, cursor, setting.cut)));
        std::this_thread::sleep_for(pause);
      }
    }
  }
}

TEST(Loader, AWorkerWithoutSentencesStillGetsEveryStep) {
  const SampleCorpus corpus(3);
  Loader last(*corpus, setting_of(7, 8, {BatchUnit::sentences, 3, 61}), {});
  for (int i = 0; i < 5; ++i) {
    const StepBatch step = last.next();
    EXPECT_EQ(step.cursor, (DataCursor{i, 0}));
    EXPECT_EQ(step.sentences, 3);
    EXPECT_TRUE(step.micro.empty());
  }
}

TEST(Loader, FailuresOfItsThreadComeOutOfNext) {
  const SampleCorpus corpus(50);
  Loader small(*corpus, setting_of(0, 1, {BatchUnit::tokens, 60, 61}), {});
  EXPECT_THROW(small.next(), UserError);
  EXPECT_THROW(small.next(), UserError);  // and does not wait for ever

  for (const DataCursor outside : {DataCursor{0, 9999}, DataCursor{0, -1}}) {
    Loader loader(*corpus, setting_of(), outside);
    EXPECT_THROW(loader.next(), UserError);
  }
  const SampleCorpus without_bos(5, {-1, -1, 0, 1});
  Loader unmarked(*without_bos, setting_of(), {});
  EXPECT_THROW(unmarked.next(), UserError);
}

// Which may never have its turn: the run may end with the epoch before.
TEST(Loader, AnEpochWithoutPairsSpoilsNoStepOfTheOneBefore) {
  const SampleCorpus corpus(2);
  const std::vector<Mixture::Part> parts{{&*corpus, 0.25}};
  const Mixture mixture(parts);
  LoaderSetting setting = setting_of(0, 1, {BatchUnit::sentences, 1, 61});
  setting.steps_ahead = 1;
  const auto batches = [&](std::int64_t epoch) -> std::size_t {
    try {
      return BatchPlan(mixture.lengths(), mixture.plan_input(setting.seed, epoch, setting.batch))
          .batches();
    } catch (const UserError&) {
      return 0;
    }
  };
  while (batches(0) != 2) ++setting.seed;
  ASSERT_EQ(batches(1), 0u);
  Loader loader(mixture, setting, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time to look ahead
  EXPECT_EQ(loader.next().cursor, (DataCursor{0, 0}));
  EXPECT_EQ(loader.next().after, (DataCursor{1, 0}));
  EXPECT_THROW(loader.next(), UserError);
}

TEST(Loader, CanBeDestroyedAtAnyMoment) {
  const SampleCorpus corpus(300);
  for (int i = 0; i < 200; ++i) {
    Loader loader(*corpus, setting_of(), {});
    for (int taken = 0; taken < i % 5; ++taken) loader.next();
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 7));
  }
}

}  // namespace tandem
