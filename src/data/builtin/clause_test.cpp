#include "data/builtin/clause.h"

#include <gtest/gtest.h>

#include "data/builtin/scene.h"

namespace tandem::builtin {
namespace {

constexpr Verb kGetUp{{"get", "got", "got", "up"},
                      {"auf", "stehen", "steht", "stand", "aufgestanden", Auxiliary::sein}};
constexpr Noun kMan{"man", "men", {"Mann", "Mannes", "Männer", Gender::masculine}, kPerson};
constexpr Noun kLetter{
    "letter", "letters", {"Brief", "Briefes", "Briefe", Gender::masculine}, kRead};

NounPhrase the_man() {
  return noun_phrase(kMan, {the()});
}

Clause gets_up() {
  Clause clause = clause_of(the_man(), kGetUp);
  clause.time = {"every day", "jeden Tag"};
  return clause;
}

Clause reads(const Determiner& determiner) {
  Clause clause = clause_of(the_man(), verb_named("lesen"));
  clause.accusative = noun_phrase(kLetter, {determiner});
  return clause;
}

TEST(Clause, ASeparableVerbInEveryOrder) {
  Clause clause = gets_up();
  EXPECT_EQ(german_main(clause), "der Mann steht jeden Tag auf");
  EXPECT_EQ(german_main(clause, "heute"), "heute steht der Mann jeden Tag auf");
  EXPECT_EQ(german_question(clause), "steht der Mann jeden Tag auf");
  EXPECT_EQ(german_final(clause), "der Mann jeden Tag aufsteht");
  EXPECT_EQ(german_zu_infinitive(clause), "jeden Tag aufzustehen");
  clause.tense = Tense::past;
  EXPECT_EQ(german_main(clause), "der Mann ist jeden Tag aufgestanden");
  EXPECT_EQ(german_final(clause), "der Mann jeden Tag aufgestanden ist");
  clause.tense = Tense::narrative;
  EXPECT_EQ(german_final(clause), "der Mann jeden Tag aufstand");
  clause.modal = &present_modals()[1];
  EXPECT_EQ(german_main(clause), "der Mann muss jeden Tag aufstehen");
  EXPECT_EQ(german_final(clause), "der Mann jeden Tag aufstehen muss");
}

TEST(Clause, EnglishTensesQuestionsAndNegation) {
  Clause clause = gets_up();
  EXPECT_EQ(english_statement(clause), "the man gets up every day");
  EXPECT_EQ(english_question(clause), "does the man get up every day");
  EXPECT_EQ(english_infinitive(clause), "get up every day");
  EXPECT_EQ(english_gerund(clause), "getting up every day");
  clause.negated = true;
  EXPECT_EQ(english_statement(clause), "the man does not get up every day");
  clause.tense = Tense::past;
  EXPECT_EQ(english_statement(clause), "the man did not get up every day");
  clause.modal = &present_modals()[0];
  EXPECT_EQ(english_statement(clause), "the man cannot get up every day");
  clause.modal = &present_modals()[2];
  EXPECT_EQ(english_statement(clause), "the man does not want to get up every day");
}

TEST(Clause, NichtForDefiniteAndKeinForIndefiniteObjects) {
  Clause clause = reads(the());
  clause.negated = true;
  EXPECT_EQ(german_main(clause), "der Mann liest den Brief nicht");
  clause = reads(a());
  clause.negated = true;
  EXPECT_EQ(german_main(clause), "der Mann liest keinen Brief");
  EXPECT_EQ(english_statement(clause), "the man does not read a letter");
}

TEST(Clause, PronounsComeEarlyInGermanAndBeforeTheParticleInEnglish) {
  Clause clause = clause_of(the_man(), verb_named("anrufen"));
  clause.accusative = pronoun_phrase(pronoun::kShe);
  clause.time = {"today", "heute"};
  EXPECT_EQ(german_main(clause), "der Mann ruft sie heute an");
  clause.verb = &verb_named("abholen");
  EXPECT_EQ(english_statement(clause), "the man picks her up today");
}

TEST(Clause, TheReflexivePronounFollowsTheSubjectPronounButPrecedesANoun) {
  Clause clause = clause_of(the_man(), verb_named("beeilen"));
  EXPECT_EQ(german_main(clause, "heute"), "heute beeilt sich der Mann");
  clause.subject = pronoun_phrase(pronoun::kI);
  EXPECT_EQ(german_main(clause, "heute"), "heute beeile ich mich");
  EXPECT_EQ(german_final(clause), "ich mich beeile");
}

TEST(Clause, Passive) {
  Clause clause = clause_of(noun_phrase(kLetter, {the(), Number::plural}), verb_named("lesen"));
  clause.passive = true;
  EXPECT_EQ(german_main(clause), "die Briefe werden gelesen");
  EXPECT_EQ(english_statement(clause), "the letters are read");
  clause.tense = Tense::past;
  EXPECT_EQ(german_final(clause), "die Briefe gelesen wurden");
  EXPECT_EQ(english_statement(clause), "the letters were read");
  clause.modal = &present_modals()[0];
  EXPECT_EQ(german_main(clause), "die Briefe können gelesen werden");
  EXPECT_EQ(english_statement(clause), "the letters can be read");
}

TEST(Clause, CommandsByTheKindOfYou) {
  Clause clause = reads(the());
  clause.subject = pronoun_phrase(pronoun::kYouFamiliar);
  EXPECT_EQ(german_imperative(clause), "lies den Brief");
  clause.subject = pronoun_phrase(pronoun::kYouFormal);
  EXPECT_EQ(german_imperative(clause), "lesen Sie den Brief");
  clause.subject = pronoun_phrase(pronoun::kYouAll);
  EXPECT_EQ(german_imperative(clause), "lest den Brief");
}

}  // namespace
}  // namespace tandem::builtin
