#include "translate/corpus_score.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::ElementsAre;

// All expected numbers are sacreBLEU 2.6.0's.
const std::vector<std::string> kHyps = {"Ein Mann geht über die Straße.",
                                        "Zwei Hunde spielen im Schnee .", "",
                                        "Das kostet 1.000,50 €!"};
const std::vector<std::vector<std::string>> kRefs = {
    {"Ein Mann läuft über die Straße.", "Zwei Hunde spielen im Schnee.", "Leer",
     "Das kostet 1.000,50 €."},
    {"Ein Mann geht auf der Straße.", "Hunde spielen im tiefen Schnee.", "", "Es kostet 1000 €."}};
const std::span kOneRef = std::span(kRefs).first(1);
constexpr double kNear = 1e-12;

BleuOptions with(BleuTokenizer tokenizer) {
  return {.tokenizer = tokenizer};
}

using References = std::span<const std::vector<std::string>>;

BleuScore corpus_bleu(std::span<const std::string> hyps, References refs,
                      const BleuOptions& options) {
  const ScoreOptions wanted{.bleu = options, .chrf = {}, .on_progress = {}};
  return bleu_score(count_corpus(hyps, refs, wanted).bleu, options.effective_order);
}

double sentence_bleu(std::string_view hyp, std::string_view ref) {
  return bleu_score(BleuCounter({}).count(hyp, {&ref, 1}), /*effective_order=*/true).score;
}

double corpus_chrf(std::span<const std::string> hyps, References refs, const ChrfOptions& options) {
  const ScoreOptions wanted{.bleu = {}, .chrf = options, .on_progress = {}};
  return chrf_score(count_corpus(hyps, refs, wanted).chrf);
}

}  // namespace

TEST(Bleu, EqualsSacrebleuOnACorpus) {
  const BleuScore bleu = corpus_bleu(kHyps, kOneRef, {});
  EXPECT_NEAR(bleu.score, 67.76664013406511, kNear);
  EXPECT_THAT(bleu.stats.correct, ElementsAre(16, 12, 8, 5));
  EXPECT_THAT(bleu.stats.total, ElementsAre(18, 15, 12, 9));
  EXPECT_NEAR(bleu.brevity_penalty, 0.9459594689067654, kNear);
  EXPECT_EQ(bleu.stats.hyp_len, 18);
  EXPECT_EQ(bleu.stats.ref_len, 19);
  EXPECT_EQ(bleu_text(bleu, 1),
            "67.8 88.9/80.0/66.7/55.6 (BP = 0.946 ratio = 0.947 hyp_len = 18 ref_len = 19)");
  const BleuScore none = corpus_bleu(kHyps, kOneRef, with(BleuTokenizer::none));
  EXPECT_NEAR(none.score, 40.298832314129164, kNear);
}

TEST(Bleu, EqualsSacrebleuWithTwoReferences) {
  EXPECT_NEAR(corpus_bleu(kHyps, kRefs, {}).score, 76.41952201431809, kNear);
  const BleuScore none = corpus_bleu(kHyps, kRefs, with(BleuTokenizer::none));
  EXPECT_NEAR(none.score, 44.77118844014734, kNear);
  EXPECT_EQ(none.stats.ref_len, 15);
}

TEST(Bleu, ASentenceIsScoredWithEffectiveOrder) {
  const std::array expected = {48.892302243490086, 100.00000000000004, 0.0, 66.87403049764218};
  for (std::size_t i = 0; i < kHyps.size(); ++i) {
    const std::string_view ref = kRefs[0][i];
    EXPECT_NEAR(sentence_bleu(kHyps[i], ref), expected[i], kNear);
  }
  const std::string_view two_words = "a b";
  EXPECT_NEAR(sentence_bleu(two_words, two_words), 100.0, 1e-9);
  EXPECT_EQ(bleu_score(BleuCounter({}).count(two_words, {&two_words, 1}), false).score, 0.0);
}

TEST(Bleu, SignaturesAreSacrebleus) {
  EXPECT_EQ(bleu_signature({}, 1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(bleu_signature({BleuTokenizer::intl, true, true}, 3),
            "nrefs:3|case:lc|eff:yes|tok:intl|smooth:exp|version:2.6.0");
}

TEST(Chrf, EqualsSacrebleu) {
  EXPECT_NEAR(corpus_chrf(kHyps, kOneRef, {}), 86.2182471131876, kNear);
  EXPECT_NEAR(corpus_chrf(kHyps, kRefs, {}), 86.2182471131876, kNear);
  const std::vector<std::string> shouted = {"EIN MANN GEHT ÜBER DIE STRASSE.",
                                            "ZWEI HUNDE SPIELEN IM SCHNEE .", "",
                                            "DAS KOSTET 1.000,50 €!"};
  EXPECT_NEAR(corpus_chrf(shouted, kOneRef, {.lowercase = true}), 81.89627464545218, kNear);
  const std::array expected = {72.2725591801882, 100.0, 0.0, 93.87323496650124};
  for (std::size_t i = 0; i < kHyps.size(); ++i) {
    const std::string_view ref = kRefs[0][i];
    EXPECT_NEAR(chrf_score(ChrfCounter({}).count(kHyps[i], {&ref, 1})), expected[i], kNear);
  }
  EXPECT_EQ(chrf_signature({}, 2), "nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
}

TEST(CorpusScore, ThreadsAndPartsGiveTheSameCounts) {
  std::vector<std::string> hyps;
  std::vector<std::vector<std::string>> refs(2);
  for (std::size_t i = 0; i < 2000; ++i) {
    hyps.push_back(kHyps[i % 4] + std::to_string(i % 7));
    for (std::size_t r = 0; r < 2; ++r) refs[r].push_back(kRefs[r][i % 4] + std::to_string(i % 5));
  }
  ScoreOptions options;
  options.keep_sentences = true;
  const CorpusStats one = count_corpus(hyps, refs, options);
  options.threads = 3;
  const CorpusStats three = count_corpus(hyps, refs, options);
  EXPECT_EQ(one.bleu, three.bleu);
  EXPECT_EQ(one.chrf, three.chrf);
  EXPECT_EQ(one.bleu_sentences, three.bleu_sentences);
  EXPECT_EQ(one.chrf_sentences, three.chrf_sentences);

  BleuStats bleu;
  ChrfStats chrf;
  for (const auto& stats : one.bleu_sentences) bleu += stats;
  for (const auto& stats : one.chrf_sentences) chrf += stats;
  EXPECT_EQ(bleu, one.bleu);
  EXPECT_EQ(chrf, one.chrf);
}

TEST(CorpusScore, NothingScoresNothing) {
  EXPECT_EQ(corpus_bleu({}, std::vector<std::vector<std::string>>(1), {}).score, 0.0);
  EXPECT_EQ(corpus_chrf({}, std::vector<std::vector<std::string>>(1), {}), 0.0);
}

TEST(CorpusScore, IllFormedTextIsCountedNotRefused) {
  const std::vector<std::string> broken = {"a\xFF b\xE2\x82 c d\xC3"};
  for (const auto tokenizer : {BleuTokenizer::v13a, BleuTokenizer::intl, BleuTokenizer::none}) {
    EXPECT_NEAR(corpus_bleu(broken, {&broken, 1}, {tokenizer, true, false}).score, 100.0, 1e-9);
  }
  EXPECT_NEAR(corpus_chrf(broken, {&broken, 1}, {}), 100.0, 1e-9);
}

}  // namespace tandem
