// Adjectives, names, cities and expressions of time.
#include "data/builtin/lexicon.h"

namespace tandem::builtin {
namespace {

// clang-format off
constexpr Adjective kAdjectives[] = {
    {"old", "older", "oldest", "alt", "alt", "älter", "ältest", kOfPerson | kOfAnimal | kOfThing | kOfPlace | kOfText | kOfTask | kBlame | kTooMuch},
    {"young", "younger", "youngest", "jung", "jung", "jünger", "jüngst", kOfPerson | kOfAnimal},
    {"new", "newer", "newest", "neu", "neu", "neuer", "neuest", kOfThing | kOfPlace | kOfRoom | kOfText | kOfTask | kPraise},
    {"small", "smaller", "smallest", "klein", "klein", "kleiner", "kleinst", kOfThing | kOfPlace | kOfRoom | kOfNature | kOfAnimal | kOfFood | kTooMuch},
    {"big", "bigger", "biggest", "groß", "groß", "größer", "größt", kOfThing | kOfPlace | kOfRoom | kOfNature | kOfAnimal | kOfFood | kOfEvent | kTooMuch},
    {"long", "longer", "longest", "lang", "lang", "länger", "längst", kOfText | kOfEvent | kTooMuch},
    {"short", "shorter", "shortest", "kurz", "kurz", "kürzer", "kürzest", kOfText | kOfEvent | kTooMuch},
    {"expensive", "more expensive", "most expensive", "teuer", "teur", "teurer", "teuerst", kOfThing | kOfFood | kTooMuch},
    {"cheap", "cheaper", "cheapest", "billig", "billig", "billiger", "billigst", kOfThing | kOfFood | kPraise},
    {"beautiful", "more beautiful", "most beautiful", "schön", "schön", "schöner", "schönst", kOfThing | kOfPlace | kOfRoom | kOfNature | kOfAnimal | kOfEvent | kPraise},
    {"heavy", "heavier", "heaviest", "schwer", "schwer", "schwerer", "schwerst", kOfThing | kBlame | kTooMuch},
    {"light", "lighter", "lightest", "leicht", "leicht", "leichter", "leichtest", kOfThing | kPraise},
    {"modern", "more modern", "most modern", "modern", "modern", "moderner", "modernst", kOfThing | kOfPlace | kOfRoom | kPraise},
    {"ugly", "uglier", "ugliest", "hässlich", "hässlich", "hässlicher", "hässlichst", kOfThing | kOfPlace | kBlame},
    {"dirty", "dirtier", "dirtiest", "schmutzig", "schmutzig", "schmutziger", "schmutzigst", kOfThing | kOfRoom | kOfAnimal | kTooMuch},
    {"clean", "cleaner", "cleanest", "sauber", "sauber", "sauberer", "sauberst", kOfThing | kOfRoom},
    {"quiet", "quieter", "quietest", "ruhig", "ruhig", "ruhiger", "ruhigst", kOfPlace | kOfRoom | kOfNature | kOfPerson | kPraise},
    {"famous", "more famous", "most famous", "berühmt", "berühmt", "berühmter", "berühmtest", kOfPlace | kOfNature | kOfPerson | kOfText | kPraise},
    {"hot", "hotter", "hottest", "heiß", "heiß", "heißer", "heißest", kOfDrink | kTooMuch},
    {"cold", "colder", "coldest", "kalt", "kalt", "kälter", "kältest", kOfDrink | kTooMuch},
    {"warm", "warmer", "warmest", "warm", "warm", "wärmer", "wärmst", kOfDrink},
    {"sweet", "sweeter", "sweetest", "süß", "süß", "süßer", "süßest", kOfFood | kTooMuch},
    {"fresh", "fresher", "freshest", "frisch", "frisch", "frischer", "frischest", kOfFood | kOfDrink | kPraise},
    {"good", "better", "best", "gut", "gut", "besser", "best", kOfText | kOfFood | kOfDrink | kOfEvent | kPraise},
    {"interesting", "more interesting", "most interesting", "interessant", "interessant", "interessanter", "interessantest", kOfText | kOfTask | kOfEvent | kPraise},
    {"boring", "more boring", "most boring", "langweilig", "langweilig", "langweiliger", "langweiligst", kOfText | kOfTask | kOfEvent | kBlame | kTooMuch},
    {"important", "more important", "most important", "wichtig", "wichtig", "wichtiger", "wichtigst", kOfText | kOfTask | kOfEvent | kPraise},
    {"difficult", "more difficult", "most difficult", "schwierig", "schwierig", "schwieriger", "schwierigst", kOfText | kOfTask | kTooMuch},
    {"funny", "funnier", "funniest", "lustig", "lustig", "lustiger", "lustigst", kOfText | kOfPerson | kPraise},
    {"friendly", "friendlier", "friendliest", "freundlich", "freundlich", "freundlicher", "freundlichst", kOfPerson},
    {"clever", "cleverer", "cleverest", "klug", "klug", "klüger", "klügst", kOfPerson | kOfAnimal},
    {"rich", "richer", "richest", "reich", "reich", "reicher", "reichst", kOfPerson},
    {"poor", "poorer", "poorest", "arm", "arm", "ärmer", "ärmst", kOfPerson},
    {"polite", "more polite", "most polite", "höflich", "höflich", "höflicher", "höflichst", kOfPerson},
    {"hard-working", "more hard-working", "most hard-working", "fleißig", "fleißig", "fleißiger", "fleißigst", kOfPerson},
    {"lazy", "lazier", "laziest", "faul", "faul", "fauler", "faulst", kOfPerson | kOfAnimal},
    {"strong", "stronger", "strongest", "stark", "stark", "stärker", "stärkst", kOfPerson | kOfAnimal},
    {"brave", "braver", "bravest", "mutig", "mutig", "mutiger", "mutigst", kOfPerson},
    {"tired", "", "", "müde", "müd", "", "", kOfMood},
    {"ill", "", "", "krank", "krank", "", "", kOfMood},
    {"happy", "", "", "glücklich", "glücklich", "", "", kOfGoodMood},
    {"sad", "", "", "traurig", "traurig", "", "", kOfMood},
    {"healthy", "", "", "gesund", "gesund", "", "", kOfGoodMood},
    {"curious", "", "", "neugierig", "neugierig", "", "", kOfGoodMood},
    {"bored", "", "", "gelangweilt", "gelangweilt", "", "", kOfGoodMood},
    {"hungry", "", "", "hungrig", "hungrig", "", "", kOfMood},
    {"nervous", "", "", "nervös", "nervös", "", "", kOfMood},
    {"angry", "", "", "wütend", "wütend", "", "", kOfMood},
    {"red", "", "", "rot", "rot", "", "", kColour},
    {"blue", "", "", "blau", "blau", "", "", kColour},
    {"green", "", "", "grün", "grün", "", "", kColour},
    {"white", "", "", "weiß", "weiß", "", "", kColour},
    {"black", "", "", "schwarz", "schwarz", "", "", kColour},
    {"yellow", "", "", "gelb", "gelb", "", "", kColour},
    {"brown", "", "", "braun", "braun", "", "", kColour},
    {"grey", "", "", "grau", "grau", "", "", kColour},
};

constexpr Name kFirstNames[] = {
    {"Anna", true}, {"Maria", true}, {"Julia", true}, {"Laura", true}, {"Sophie", true},
    {"Clara", true}, {"Emma", true}, {"Lena", true}, {"Eva", true}, {"Sarah", true},
    {"Peter"}, {"Paul"}, {"Martin"}, {"Tom"}, {"Daniel"}, {"David"}, {"Simon"}, {"Jan"},
    {"Oliver"}, {"Michael"},
};
constexpr std::string_view kSurnames[] = {
    "Müller", "Weber", "Schneider", "Fischer", "Wagner", "Becker", "Hoffmann", "Koch", "Richter", "Klein",
};
constexpr WordPair kCities[] = {
    {"Berlin", "Berlin"}, {"Hamburg", "Hamburg"}, {"Munich", "München"}, {"Cologne", "Köln"},
    {"Vienna", "Wien"}, {"Zurich", "Zürich"}, {"Leipzig", "Leipzig"}, {"Dresden", "Dresden"},
    {"Paris", "Paris"}, {"London", "London"}, {"Rome", "Rom"}, {"Prague", "Prag"},
};
constexpr WordPair kMonths[] = {
    {"January", "Januar"}, {"February", "Februar"}, {"March", "März"}, {"April", "April"},
    {"May", "Mai"}, {"June", "Juni"}, {"July", "Juli"}, {"August", "August"},
    {"September", "September"}, {"October", "Oktober"}, {"November", "November"}, {"December", "Dezember"},
};
constexpr WordPair kWeekdays[] = {
    {"Monday", "Montag"}, {"Tuesday", "Dienstag"}, {"Wednesday", "Mittwoch"}, {"Thursday", "Donnerstag"},
    {"Friday", "Freitag"}, {"Saturday", "Samstag"}, {"Sunday", "Sonntag"},
};
constexpr WordPair kHabitTimes[] = {
    {"every day", "jeden Tag"}, {"every morning", "jeden Morgen"}, {"every evening", "jeden Abend"},
    {"every week", "jede Woche"}, {"in the morning", "am Morgen"}, {"in the evening", "am Abend"},
    {"at the weekend", "am Wochenende"}, {"in the afternoon", "am Nachmittag"}, {"today", "heute"},
    {"in summer", "im Sommer"}, {"in winter", "im Winter"},
};
// The first four of both are near: fit for what one would not remember a year later.
constexpr WordPair kPastTimes[] = {
    {"yesterday", "gestern"}, {"yesterday evening", "gestern Abend"}, {"this morning", "heute Morgen"},
    {"two days ago", "vor zwei Tagen"},
    {"last week", "letzte Woche"}, {"last year", "letztes Jahr"}, {"last month", "letzten Monat"},
    {"three weeks ago", "vor drei Wochen"}, {"last summer", "letzten Sommer"},
};
constexpr WordPair kFutureTimes[] = {
    {"tomorrow", "morgen"}, {"tomorrow evening", "morgen Abend"}, {"soon", "bald"},
    {"in three days", "in drei Tagen"},
    {"next week", "nächste Woche"}, {"next year", "nächstes Jahr"}, {"next month", "nächsten Monat"},
    {"in two weeks", "in zwei Wochen"},
};
// clang-format on

}  // namespace

std::span<const Adjective> adjectives() {
  return kAdjectives;
}
std::span<const Name> first_names() {
  return kFirstNames;
}
std::span<const std::string_view> surnames() {
  return kSurnames;
}
std::span<const WordPair> cities() {
  return kCities;
}
std::span<const WordPair> months() {
  return kMonths;
}
std::span<const WordPair> weekdays() {
  return kWeekdays;
}
std::span<const WordPair> habit_times() {
  return kHabitTimes;
}
std::span<const WordPair> past_times() {
  return kPastTimes;
}
std::span<const WordPair> future_times() {
  return kFutureTimes;
}

}  // namespace tandem::builtin
