// builtin/lexicon: the words of the built-in corpus as tables, with what may sensibly be said about
// them: a noun's classes and a verb's pattern and objects keep people reading letters and cooks
// baking cakes. One English word in one pattern has one German translation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data/builtin/english.h"
#include "data/builtin/german.h"
#include "data/builtin/german_verb.h"

namespace tandem::builtin {

// Sets of nouns; a noun is in several.
using NounClass = std::uint64_t;
enum : NounClass {
  kPerson = 1ull << 0,    // people by age, work or part: the man, the nurse
  kRelative = 1ull << 1,  // people that are somebody's: my brother
  kAnimal = 1ull << 2,
  kFood = 1ull << 3,  // is eaten
  kDrink = 1ull << 4,
  kCook = 1ull << 5,  // is cooked
  kBake = 1ull << 6,
  kRead = 1ull << 7,
  kWrite = 1ull << 8,
  kSign = 1ull << 9,
  kOpen = 1ull << 10,  // is opened
  kShut = 1ull << 11,  // is closed again; a letter is not
  kLock = 1ull << 12,
  kRide = 1ull << 13,  // runs by a timetable
  kRepair = 1ull << 14,
  kClothes = 1ull << 15,
  kSurface = 1ull << 16,  // things lie and stand on it
  kLay = 1ull << 17,      // lies (liegen, legen) where it is put
  kStand = 1ull << 18,    // stands (stehen, stellen) where it is put
  kHang = 1ull << 19,     // hangs on a wall
  kBuy = 1ull << 20,      // is bought and sold and has a price
  kWash = 1ull << 21,
  kClean = 1ull << 22,
  kLose = 1ull << 23,    // is carried about, lost and found
  kDevice = 1ull << 24,  // is turned on and off
  kEvent = 1ull << 25,   // takes place
  kRoom = 1ull << 26,    // is tidied up
  kSight = 1ull << 27,   // is visited and looked at
  kNature = 1ull << 28,  // a place or thing that nobody built
  kTask = 1ull << 29,    // is discussed and understood
  kSong = 1ull << 30,
  kGift = 1ull << 31,  // is given, shown, sent
  kDraw = 1ull << 32,
  kBuild = 1ull << 33,
  kMass = 1ull << 34,     // not counted: no plural, no indefinite article
  kOne = 1ull << 35,      // somebody has one: no plural
  kFemale = 1ull << 36,   // a neuter noun that "she" refers to: das Mädchen
  kNeutral = 1ull << 37,  // a person that neither "he" nor "she" refers to: das Kind
  // Only among the objects of verbs: where they lead or happen.
  kToRoom = 1ull << 38,    // verbs of movement lead into the kitchen,
  kToTown = 1ull << 39,    // to the station,
  kToCity = 1ull << 40,    // to Berlin;
  kAtPlace = 1ull << 41,   // others happen in any place,
  kOutdoors = 1ull << 42,  // in a place of kNature,
  kAtCity = 1ull << 43,    // in Berlin
};

struct Noun {
  std::string_view en, en_plural;
  GermanNoun de;
  NounClass classes = 0;
};

// A place and the prepositions of being there and of going there: "in the park", "to the park".
struct Place {
  Noun noun;
  std::string_view en_at, de_at;  // de_at has the dative
  std::string_view en_to, de_to;
  Case to_case = Case::accusative;
};

// What an adjective may sensibly describe.
using Quality = std::uint32_t;
enum : Quality {
  kOfPerson = 1u << 0,
  kOfMood = 1u << 1,      // what keeps people from acting: tired
  kOfGoodMood = 1u << 2,  // what lets them act: healthy
  kOfAnimal = 1u << 3,
  kOfFood = 1u << 4,
  kOfDrink = 1u << 5,
  kOfText = 1u << 6,
  kOfTask = 1u << 7,
  kOfEvent = 1u << 8,
  kOfThing = 1u << 9,
  kOfPlace = 1u << 10,
  kOfRoom = 1u << 11,
  kOfNature = 1u << 12,
  kColour = 1u << 13,
  kPraise = 1u << 14,   // a reason to want it
  kBlame = 1u << 15,    // a reason to get rid of it
  kTooMuch = 1u << 16,  // sensible behind "too"
};

// Moods and colours stand without degrees: "" there.
struct Adjective {
  std::string_view en, en_comparative, en_superlative;
  std::string_view de, de_stem, de_comparative, de_superlative;  // teuer, teur-, teurer-, teuerst-
  Quality qualities = 0;
};

// What stands beside the verb.
enum class Frame {
  intransitive,  // sleeps
  transitive,    // reads a letter: accusative
  dative,        // helps the man: dative
  giving,        // gives the man a letter: dative and accusative
  about,         // waits for the bus: preposition
  motion,        // goes to the station
};

// How it goes on in time decides which tenses and commands are natural.
enum class Aspect {
  action,  // reads: everything
  event,   // loses, wakes up: no "is losing", no command
  state,   // knows, needs: no time of the day either
};

struct Verb {
  EnglishVerb en;
  GermanVerb de;
  Frame frame = Frame::intransitive;
  NounClass objects = 0;                 // classes of its object; where it may happen or lead
  std::string_view en_preposition = {};  // "for" in "wait for", "look for"
  std::string_view de_preposition = {};  //
  Case preposition_case = Case::accusative;
  std::string_view de_fixed = {};  // "Fußball" in "Fußball spielen"
  bool reflexive = false;
  Aspect aspect = Aspect::action;
};

struct Modal {
  std::string_view en_first, en_third, en_plural;  // can, can, can; want, wants, want
  std::string_view en_rest;     // "to" in "wants to", "like to" in "would like to"
  std::string_view en_do_base;  // "want" where English negates with "do", else ""
  GermanVerb de;
  bool preterite = false;
};

struct Name {
  std::string_view name;
  bool female = false;
};

struct WordPair {
  std::string_view en, de;
};

std::span<const Noun> nouns();    // people, animals, things
std::span<const Place> places();  // their nouns are not in nouns()
std::span<const Adjective> adjectives();
std::span<const Verb> verbs();
std::span<const Modal> present_modals();
std::span<const Modal> past_modals();
std::span<const Name> first_names();
std::span<const std::string_view> surnames();
std::span<const WordPair> cities();
std::span<const WordPair> months();
std::span<const WordPair> weekdays();
std::span<const WordPair> habit_times();   // with the present: every day
std::span<const WordPair> past_times();    // yesterday
std::span<const WordPair> future_times();  // tomorrow

// Verbs that constructions name themselves.
const Verb& be_verb();
const Verb& have_verb();
const Verb& stand_verb();  // rest, with the dative ...
const Verb& lie_verb();
const Verb& hang_verb();
const Verb& put_upright_verb();  // ... movement, with the accusative
const Verb& lay_verb();
const Verb& hang_up_verb();

}  // namespace tandem::builtin
