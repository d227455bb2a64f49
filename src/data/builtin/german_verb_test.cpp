#include "data/builtin/german_verb.h"

#include <gtest/gtest.h>

#include <array>

namespace tandem::builtin {
namespace {

// ich, du, er, wir, ihr, sie
using Six = std::array<std::string, 6>;

template <class Form>
Six six(Form form, const GermanVerb& verb) {
  Six forms;
  std::size_t i = 0;
  for (const auto number : {Number::singular, Number::plural})
    for (const auto person : {Person::first, Person::second, Person::third})
      forms[i++] = form(verb, person, number);
  return forms;
}

Six present(const GermanVerb& verb) {
  return six(present_form, verb);
}
Six preterite(const GermanVerb& verb) {
  return six(preterite_form, verb);
}

constexpr GermanVerb kKaufen{"", "kaufen", "kauft", "kaufte", "gekauft"};
constexpr GermanVerb kArbeiten{"", "arbeiten", "arbeitet", "arbeitete", "gearbeitet"};
constexpr GermanVerb kOeffnen{"", "öffnen", "öffnet", "öffnete", "geöffnet"};
constexpr GermanVerb kZeichnen{"", "zeichnen", "zeichnet", "zeichnete", "gezeichnet"};
constexpr GermanVerb kWohnen{"", "wohnen", "wohnt", "wohnte", "gewohnt"};
constexpr GermanVerb kLesen{"", "lesen", "liest", "las", "gelesen"};
constexpr GermanVerb kFahren{"", "fahren", "fährt", "fuhr", "gefahren", Auxiliary::sein};
constexpr GermanVerb kHalten{"", "halten", "hält", "hielt", "gehalten"};
constexpr GermanVerb kFinden{"", "finden", "findet", "fand", "gefunden"};
constexpr GermanVerb kNehmen{"mit", "nehmen", "nimmt", "nahm", "mitgenommen"};
constexpr GermanVerb kFuettern{"", "füttern", "füttert", "fütterte", "gefüttert"};
constexpr GermanVerb kKoennen{"", "können", "kann", "konnte", "gekonnt", Auxiliary::haben, true};
constexpr GermanVerb kMuessen{"", "müssen", "muss", "musste", "gemusst", Auxiliary::haben, true};
constexpr GermanVerb kAufstehen{"auf", "stehen", "steht", "stand", "aufgestanden", Auxiliary::sein};

TEST(GermanVerb, RegularPresent) {
  EXPECT_EQ(present(kKaufen), (Six{"kaufe", "kaufst", "kauft", "kaufen", "kauft", "kaufen"}));
  EXPECT_EQ(present(kArbeiten),
            (Six{"arbeite", "arbeitest", "arbeitet", "arbeiten", "arbeitet", "arbeiten"}));
  EXPECT_EQ(present(kOeffnen), (Six{"öffne", "öffnest", "öffnet", "öffnen", "öffnet", "öffnen"}));
  EXPECT_EQ(present(kZeichnen),
            (Six{"zeichne", "zeichnest", "zeichnet", "zeichnen", "zeichnet", "zeichnen"}));
  EXPECT_EQ(present(kWohnen), (Six{"wohne", "wohnst", "wohnt", "wohnen", "wohnt", "wohnen"}));
  EXPECT_EQ(present(kFuettern),
            (Six{"füttere", "fütterst", "füttert", "füttern", "füttert", "füttern"}));
}

TEST(GermanVerb, PresentWithAnotherVowel) {
  EXPECT_EQ(present(kLesen), (Six{"lese", "liest", "liest", "lesen", "lest", "lesen"}));
  EXPECT_EQ(present(kFahren), (Six{"fahre", "fährst", "fährt", "fahren", "fahrt", "fahren"}));
  EXPECT_EQ(present(kHalten), (Six{"halte", "hältst", "hält", "halten", "haltet", "halten"}));
}

TEST(GermanVerb, HelpersAndModals) {
  EXPECT_EQ(present(kSein), (Six{"bin", "bist", "ist", "sind", "seid", "sind"}));
  EXPECT_EQ(present(kHaben), (Six{"habe", "hast", "hat", "haben", "habt", "haben"}));
  EXPECT_EQ(present(kWerden), (Six{"werde", "wirst", "wird", "werden", "werdet", "werden"}));
  EXPECT_EQ(present(kKoennen), (Six{"kann", "kannst", "kann", "können", "könnt", "können"}));
  EXPECT_EQ(present(kMuessen), (Six{"muss", "musst", "muss", "müssen", "müsst", "müssen"}));
}

TEST(GermanVerb, Preterite) {
  EXPECT_EQ(preterite(kKaufen),
            (Six{"kaufte", "kauftest", "kaufte", "kauften", "kauftet", "kauften"}));
  EXPECT_EQ(preterite(kLesen), (Six{"las", "lasest", "las", "lasen", "last", "lasen"}));
  EXPECT_EQ(preterite(kFinden), (Six{"fand", "fandest", "fand", "fanden", "fandet", "fanden"}));
  EXPECT_EQ(preterite(kFahren), (Six{"fuhr", "fuhrst", "fuhr", "fuhren", "fuhrt", "fuhren"}));
  EXPECT_EQ(preterite(kSein), (Six{"war", "warst", "war", "waren", "wart", "waren"}));
  EXPECT_EQ(preterite(kWerden), (Six{"wurde", "wurdest", "wurde", "wurden", "wurdet", "wurden"}));
  EXPECT_EQ(preterite(kKoennen),
            (Six{"konnte", "konntest", "konnte", "konnten", "konntet", "konnten"}));
}

TEST(GermanVerb, Imperative) {
  const auto to_one = [](const GermanVerb& verb) {
    return imperative_form(verb, Number::singular);
  };
  EXPECT_EQ(to_one(kKaufen), "kauf");
  EXPECT_EQ(to_one(kOeffnen), "öffne");
  EXPECT_EQ(to_one(kArbeiten), "arbeite");
  EXPECT_EQ(to_one(kLesen), "lies");
  EXPECT_EQ(to_one(kNehmen), "nimm");
  EXPECT_EQ(to_one(kFahren), "fahr");
  EXPECT_EQ(to_one(kFuettern), "füttere");
  EXPECT_EQ(imperative_form(kLesen, Number::plural), "lest");
  EXPECT_EQ(imperative_form(kFinden, Number::plural), "findet");
}

TEST(GermanVerb, TheSeparablePrefixJoinsTheInfinitive) {
  EXPECT_EQ(full_infinitive(kAufstehen), "aufstehen");
  EXPECT_EQ(infinitive_with_zu(kAufstehen), "aufzustehen");
  EXPECT_EQ(infinitive_with_zu(kLesen), "zu lesen");
}

}  // namespace
}  // namespace tandem::builtin
