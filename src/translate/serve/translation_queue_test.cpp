#include "translate/serve/translation_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"

namespace tandem {
namespace {

using Clock = TranslationQueue::Clock;

const Clock::time_point kLater = Clock::now() + std::chrono::hours(1);

// Translates "x" to "x/beam/sentences of the batch"; waits at a gate.
struct FakeModel {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> batches = 0;

  void operator()(const std::vector<std::string>& lines, const SearchSettings& search,
                  const OnLine& tell) {
    ++batches;
    open.wait();
    if (std::ranges::find(lines, "bad") != lines.end()) throw UserError("bad luck");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      TextHypothesis hypothesis;
      hypothesis.text =
          lines[i] + "/" + std::to_string(search.beam) + "/" + std::to_string(lines.size());
      tell(i, {{hypothesis}, 1, 1});
    }
  }
};

TranslationQueue::Translate by(FakeModel& model) {
  return [&model](const auto& lines, const auto& search, const auto&, const auto& tell) {
    model(lines, search, tell);
  };
}

std::string text_of(std::future<LineTranslation>& result) {
  return result.get().hypotheses.front().text;
}

// One thread that is busy until the gate opens.
void occupy(TranslationQueue& queue, FakeModel& model) {
  queue.submit({"first"}, {}, kLater);
  while (model.batches == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(TranslationQueue, WhatWaitsGoesTogetherIfItIsSearchedAlike) {
  FakeModel model;
  TranslationQueue queue({.threads = 1, .linger = {}}, by(model));
  occupy(queue, model);
  auto a = queue.submit({"a"}, {.beam = 4}, kLater);
  auto b = queue.submit({"b"}, {.beam = 2}, kLater);
  auto c = queue.submit({"c", "d"}, {.beam = 4}, kLater);
  model.gate.set_value();
  EXPECT_EQ(text_of(a->front()), "a/4/3");
  EXPECT_EQ(text_of(c->back()), "d/4/3");
  EXPECT_EQ(text_of(b->front()), "b/2/1");
}

TEST(TranslationQueue, ABatchHoldsNoMoreThanItsBytesUnlessItIsOneSentence) {
  FakeModel model;
  TranslationQueue queue({.threads = 1, .batch_bytes = 4, .linger = {}}, by(model));
  occupy(queue, model);
  auto results = queue.submit({"aa", "bb", "cc", "dddddd"}, {.beam = 1}, kLater);
  model.gate.set_value();
  EXPECT_EQ(text_of((*results)[0]), "aa/1/2");
  EXPECT_EQ(text_of((*results)[2]), "cc/1/1");
  EXPECT_EQ(text_of((*results)[3]), "dddddd/1/1");
}

TEST(TranslationQueue, MoreThanMayWaitIsRefusedWhole) {
  FakeModel model;
  TranslationQueue queue({.threads = 1, .most_waiting = 2, .linger = {}}, by(model));
  occupy(queue, model);
  EXPECT_TRUE(queue.submit({"a"}, {}, kLater));
  EXPECT_FALSE(queue.submit({"b", "c"}, {}, kLater));
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_TRUE(queue.submit({"b"}, {}, kLater));
  model.gate.set_value();
}

TEST(TranslationQueue, ASentenceWhoseTimeIsOverIsNotTranslated) {
  FakeModel model;
  TranslationQueue queue({.threads = 1, .linger = {}}, by(model));
  occupy(queue, model);
  auto late = queue.submit({"late"}, {}, Clock::now());
  auto good = queue.submit({"good"}, {.beam = 1}, kLater);
  model.gate.set_value();
  EXPECT_THROW(late->front().get(), EnvError);
  EXPECT_EQ(text_of(good->front()), "good/1/1");
}

TEST(TranslationQueue, AFailureReachesThoseOfItsBatchAndTheThreadGoesOn) {
  FakeModel model;
  model.gate.set_value();
  TranslationQueue queue({.threads = 1}, by(model));
  auto bad = queue.submit({"fine", "bad"}, {}, kLater);
  EXPECT_THROW(bad->front().get(), UserError);
  EXPECT_THROW(bad->back().get(), UserError);
  EXPECT_EQ(text_of(queue.submit({"a"}, {.beam = 1}, kLater)->front()), "a/1/1");
}

TEST(TranslationQueue, ASentenceThatIsDoneDoesNotWaitForItsBatch) {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  const auto slow = [&](const std::vector<std::string>& lines, const SearchSettings&,
                        const MoreLines&, const OnLine& tell) {
    TextHypothesis done;
    done.text = "done " + lines[1];
    tell(1, {{done}, 1, 1});
    open.wait();
    throw UserError("bad luck");
  };
  TranslationQueue queue({.threads = 1}, slow);
  auto results = queue.submit({"a", "b"}, {}, kLater);
  EXPECT_EQ(text_of(results->back()), "done b");
  gate.set_value();
  EXPECT_THROW(results->front().get(), UserError);
}

TEST(TranslationQueue, SentencesJoinABatchUnderWayUnlessAnOlderOneWantsAnotherSearch) {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::atomic<bool> began = false;
  const auto joined = [&](const std::vector<std::string>& lines, const SearchSettings& search,
                          const MoreLines& more, const OnLine& tell) {
    began = true;
    open.wait();
    std::vector<std::string> all = lines;
    for (std::vector<std::string> some; !(some = more(all.size())).empty();) {
      all.insert(all.end(), some.begin(), some.end());
    }
    for (std::size_t i = all.size(); i-- > 0;) {  // those who came last are told first
      TextHypothesis hypothesis;
      hypothesis.text =
          all[i] + "/" + std::to_string(search.beam) + "/" + std::to_string(all.size());
      tell(i, {{hypothesis}, 1, 1});
    }
  };
  TranslationQueue queue({.threads = 1, .linger = {}}, joined);
  auto first = queue.submit({"a"}, {.beam = 4}, kLater);
  while (!began) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(queue.running(), 1U);
  auto alike = queue.submit({"b", "c"}, {.beam = 4}, kLater);
  auto late = queue.submit({"late"}, {.beam = 4}, Clock::now());
  auto other = queue.submit({"d"}, {.beam = 2}, kLater);
  auto behind = queue.submit({"e"}, {.beam = 4}, kLater);
  gate.set_value();
  EXPECT_EQ(text_of(first->front()), "a/4/4");  // e joins, too: d is passed over while b was oldest
  EXPECT_EQ(text_of(alike->back()), "c/4/4");
  EXPECT_EQ(text_of(behind->front()), "e/4/4");
  EXPECT_EQ(text_of(other->front()), "d/2/1");
  EXPECT_THROW(late->front().get(), EnvError);
}

TEST(TranslationQueue, EveryThreadHasItsShare) {
  FakeModel model;
  TranslationQueue queue({.threads = 2, .linger = std::chrono::milliseconds(50)}, by(model));
  auto results = queue.submit({"a", "b", "c", "d"}, {.beam = 1}, kLater);
  while (model.batches < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  model.gate.set_value();
  for (auto& result : *results) EXPECT_THAT(text_of(result), testing::EndsWith("/1/2"));
}

TEST(TranslationQueue, ClosingFinishesWhatWasAcceptedAndTakesNoMore) {
  FakeModel model;
  std::optional<TranslationQueue::Results> accepted;
  {
    TranslationQueue queue({.threads = 3, .batch_bytes = 1}, by(model));
    accepted = queue.submit({"a", "b", "c", "d", "e"}, {.beam = 1}, kLater);
    queue.close();
    EXPECT_FALSE(queue.submit({"f"}, {}, kLater));
    model.gate.set_value();
  }
  for (auto& result : *accepted) EXPECT_THAT(text_of(result), testing::EndsWith("/1/1"));
}

}  // namespace
}  // namespace tandem
