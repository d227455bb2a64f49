#include "data/prepare.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "base/error.h"
#include "base/format.h"
#include "base/temporary_folder.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "data/test_text.h"

namespace tandem {
namespace {

class Prepare : public testing::Test {
 protected:
  Prepare() {
    write("train.src", 3000, 1);
    write("train.tgt", 3000, 2);
    write("valid.src", 50, 3);
    write("valid.tgt", 50, 4);
  }
  void write(const std::string& name, std::uint64_t lines, std::uint64_t seed) {
    std::ofstream file(path(name));
    for (std::uint64_t i = 0; i < lines; ++i) file << test_line(seed, i) << "\n";
  }
  void append(const std::string& name, const std::string& text) {
    std::ofstream(path(name), std::ios::app) << text;
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  PrepareRequest request(const std::string& out = "data", std::size_t threads = 2) const {
    PrepareRequest r;
    r.train = {path("train.src"), path("train.tgt"), {}};
    r.valid = {path("valid.src"), path("valid.tgt"), {}};
    r.out = path(out);
    r.training.size = 120;
    r.training.character_coverage = 1.0;
    r.threads = threads;
    return r;
  }
  bool nothing_left() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.is_directory()) return false;
    }
    return true;
  }

  TemporaryFolder folder_;
  const std::atomic<bool> go_on_ = false;
};

std::vector<std::int32_t> src_of(const Corpus& corpus, std::size_t pair) {
  std::vector<std::int32_t> ids(corpus.lengths().src(pair));
  corpus.copy_src(pair, ids.data());
  return ids;
}

TEST_F(Prepare, KeepsEveryLineInOrder) {
  const DatasetCard card = prepare(request(), go_on_);
  EXPECT_EQ(card.train.pairs,
            3000u - card.train.dropped[static_cast<std::size_t>(Drop::length_ratio)]);
  EXPECT_EQ(card.valid.pairs, 50u);
  const auto vocab = Vocab::load(path("data") / "vocab.model");
  const Corpus valid(path("data"), "valid");
  for (std::size_t i = 0; i < valid.size(); ++i)
    EXPECT_EQ(vocab->decode(src_of(valid, i)), test_line(3, i));
  EXPECT_EQ(read_file(path("data") / "valid.src.txt"), read_file(path("valid.src")));
  EXPECT_NO_THROW(verify_dataset(path("data")));
}

TEST_F(Prepare, TheNumberOfThreadsDoesNotChangeTheDataset) {
  for (const std::string type : {"bpe", "unigram"}) {
    const auto with = [&](std::size_t threads) {
      PrepareRequest r = request(format("{}{}", type, threads), threads);
      r.training.type = type;
      return prepare(r, go_on_).vocab_hash;
    };
    EXPECT_EQ(with(1), with(3)) << type;
    const fs::path one = path(type + "1"), three = path(type + "3");
    for (const auto& file : fs::directory_iterator(one)) {  // the card among them
      const fs::path name = file.path().filename();
      EXPECT_EQ(read_file(one / name), read_file(three / name)) << type << " " << name;
    }
  }
}

TEST_F(Prepare, LongLinesAreNoTextForTheVocabulary) {
  const std::string longest(4192, 'q'), longer(4193, 'q');
  append("train.src", longer + "\n" + test_line(1, 0) + "\n" + longest + "\n");
  append("train.tgt", test_line(2, 0) + "\n" + longer + "\n" + test_line(2, 0) + "\n");
  EXPECT_EQ(prepare(request(), go_on_).vocab_sentences, 6002u);
}

TEST_F(Prepare, WithoutTextForAVocabularyItNamesTheFiles) {
  const auto sentence_of = [&](std::uint64_t pairs) -> std::string {
    PrepareRequest r = request();
    r.train = {path("valid.src"), path("valid.src"), {}};  // equal sides: all are left out
    r.sample_pairs = pairs;
    try {
      prepare(r, go_on_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing";
  };
  const std::string all = sentence_of(50), some = sentence_of(25);
  EXPECT_NE(all.find(format("50 pairs of {}", path("valid.src").string())), all.npos) << all;
  EXPECT_EQ(all.find("--vocab-sample"), all.npos) << all;
  EXPECT_NE(some.find("--vocab-sample"), some.npos) << some;
}

TEST_F(Prepare, ABadLineOfTestTextIsRefusedByItsSideBeforeTheWork) {
  write("test.src", 9, 5);
  write("test.tgt", 7, 6);
  append("test.tgt", "\ngood\n");  // an empty line may stay
  const auto with_test = [&] {
    PrepareRequest r = request("data");
    r.vocab = path("absent.model");  // what would fail next
    r.test = PairFiles{path("test.src"), path("test.tgt"), {}};
    return r;
  };
  const auto sentence_of = [&](const PrepareRequest& r) -> std::string {
    try {
      prepare(r, go_on_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_NE(sentence_of(with_test()).find("absent.model"), std::string::npos);
  append("test.src", "fine\n");
  append("test.tgt", "ab\xff\n");
  EXPECT_EQ(sentence_of(with_test()),
            format("line 10 of the test text {} cannot be used (invalid_utf8)",
                   path("test.tgt").string()));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Prepare, ReplacesADatasetAndNothingElse) {
  prepare(request(), go_on_);
  PrepareRequest again = request();
  again.replace = true;
  fs::create_directories(path("data") / "run");
  EXPECT_THROW(prepare(again, go_on_), UserError);
  EXPECT_TRUE(fs::exists(path("data") / "run"));
  EXPECT_NO_THROW(verify_dataset(path("data")));
  fs::remove(path("data") / "run");
  std::ofstream(path("data") / "card.json", std::ios::app) << " ";  // damaged
  EXPECT_NO_THROW(prepare(again, go_on_));
  EXPECT_NO_THROW(verify_dataset(path("data")));
}

TEST_F(Prepare, RefusesWhatCanBeReadOnceOnly) {
  PrepareRequest r = request();
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  r.train.src = path("pipe");
  EXPECT_THROW(prepare(r, go_on_), UserError);
  r.train.src = fs::path("-");
  EXPECT_THROW(prepare(r, go_on_), UserError);
  r.train.src = fs::path("/dev/null");
  try {
    prepare(r, go_on_);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "/dev/null is empty");
  }
}

TEST_F(Prepare, KeptEqualPairsAreTextForTheVocabulary) {
  PrepareRequest r = request();
  r.train.tgt = r.train.src;
  r.rules.drop_equal = false;
  EXPECT_EQ(prepare(r, go_on_).vocab_sentences, 6000u);
}

TEST_F(Prepare, ATsvGivesTheSameDatasetAsTwoFiles) {
  std::ofstream tsv(path("train.tsv"));
  for (std::uint64_t i = 0; i < 3000; ++i)
    tsv << test_line(1, i) << "\t" << test_line(2, i) << "\n";
  tsv.close();
  std::ofstream scored(path("scored.tsv"));
  for (std::uint64_t i = 0; i < 3000; ++i)
    scored << test_line(1, i) << "\t" << test_line(2, i) << "\t0.5\tweb\n";
  scored.close();
  const auto two = prepare(request("two"), go_on_);
  PrepareRequest r = request("tsv");
  r.train = {{}, {}, path("train.tsv")};
  const auto one = prepare(r, go_on_);
  EXPECT_EQ(one.train.fingerprint, two.train.fingerprint);
  EXPECT_EQ(one.train.src.text_bytes + one.train.tgt.text_bytes, fs::file_size(path("train.tsv")));
  r = request("scored");
  r.train = {{}, {}, path("scored.tsv")};
  EXPECT_EQ(prepare(r, go_on_).train.fingerprint, two.train.fingerprint);
}

TEST_F(Prepare, CountsWhatItLeavesOutByReason) {
  const std::string long_line(2 << 20, 'x');
  append("train.src", "same\n\nab\xff\nx\n" + std::string("n\0l", 3) + "\n" + long_line + "\na\n");
  append("train.tgt", "same\ny\nz\n   \nq\nshort\nb b b b b b b b b b b b b b b b b b b b b b\n");
  const auto before = prepare(request("a"), go_on_);
  struct Expected {
    Drop reason;
    std::uint64_t count, first_line;
  };
  for (const auto& [reason, count, first_line] : {Expected{Drop::equal, 1, 3001},
                                                  {Drop::empty, 2, 3002},
                                                  {Drop::invalid_utf8, 1, 3003},
                                                  {Drop::nul, 1, 3005},
                                                  {Drop::too_long, 1, 3006},
                                                  {Drop::duplicate, 0, 0}}) {
    const auto i = static_cast<std::size_t>(reason);
    EXPECT_EQ(before.train.dropped[i], count) << kDropNames[i];
    EXPECT_EQ(before.train.first_dropped[i], first_line) << kDropNames[i];
  }
  EXPECT_GE(before.train.dropped[static_cast<std::size_t>(Drop::length_ratio)], 1u);
  std::uint64_t all = before.train.pairs;
  for (const std::uint64_t n : before.train.dropped) all += n;
  EXPECT_EQ(all, before.train.lines);
}

TEST_F(Prepare, FindsDuplicatesAndOverlap) {
  for (std::uint64_t i = 0; i < 5; ++i) {
    append("train.src", test_line(1, i) + "\n" + test_line(3, i) + "\n");
    append("train.tgt", test_line(2, i) + "\n" + test_line(4, i) + "\n");
  }
  append("train.src", test_line(3, 9) + "\n");
  append("train.tgt", test_line(2, 9) + "\n");
  PrepareRequest r = request();
  r.rules.drop_duplicates = true;
  r.rules.max_ratio = 100;
  const auto card = prepare(r, go_on_);
  EXPECT_EQ(card.train.dropped[static_cast<std::size_t>(Drop::duplicate)], 5u);
  EXPECT_EQ(card.valid_pairs_in_train, 5u);
  std::set<std::string> train_sources, shared_sources;  // short lines meet by chance, too
  for (std::uint64_t i = 0; i < 3000; ++i) train_sources.insert(test_line(1, i));
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::string line = test_line(3, i);
    if (i < 5 || i == 9 || train_sources.contains(line)) shared_sources.insert(line);
  }
  EXPECT_EQ(card.valid_sources_in_train, shared_sources.size());
}

TEST_F(Prepare, UnequalLineCountsAreRefusedWithBothCounts) {
  append("train.src", "one more\n");
  try {
    prepare(request(), go_on_);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("3001"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("3000"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(nothing_left());
}

TEST_F(Prepare, StoppedFromOutsideItLeavesNothing) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(prepare(request(), stop), Interrupted);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Prepare, AnExistingFolderIsRefusedAndOnlyADatasetIsReplaced) {
  prepare(request(), go_on_);
  EXPECT_THROW(prepare(request(), go_on_), UserError);
  PrepareRequest again = request();
  again.replace = true;
  EXPECT_NO_THROW(prepare(again, go_on_));
  fs::create_directory(path("precious"));
  std::ofstream(path("precious") / "thesis.txt") << "years of work";
  PrepareRequest wrong = request("precious");
  wrong.replace = true;
  EXPECT_THROW(prepare(wrong, go_on_), UserError);
  EXPECT_TRUE(fs::exists(path("precious") / "thesis.txt"));
}

TEST_F(Prepare, AnotherVocabularyIsFoundByItsHashNotItsSize) {
  prepare(request("a"), go_on_);
  write("train.src", 3000, 77);
  write("train.tgt", 3000, 78);
  prepare(request("b"), go_on_);
  for (const char* name : {"vocab.model", "vocab.vocab"}) {
    fs::copy_file(path("b") / name, path("a") / name, fs::copy_options::overwrite_existing);
  }
  EXPECT_THROW(verify_dataset(path("a")), UserError);
}

TEST_F(Prepare, EveryFlippedByteOfEveryFileIsFoundWhenVerified) {
  prepare(request(), go_on_);
  for (const auto& entry : fs::directory_iterator(path("data"))) {
    const std::string whole = read_file(entry.path());
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 60) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      std::ofstream(entry.path(), std::ios::binary) << damaged;
      EXPECT_THROW(verify_dataset(path("data")), UserError) << entry.path() << " byte " << at;
    }
    std::ofstream(entry.path(), std::ios::binary) << whole;
  }
  EXPECT_NO_THROW(verify_dataset(path("data")));
}

}  // namespace
}  // namespace tandem
