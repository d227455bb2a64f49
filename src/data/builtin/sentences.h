// builtin/sentences: the constructions of the built-in corpus, one function each. A construction
// turns throws of the dice into one sentence pair; equal English from any of them has equal German.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/builtin/scene.h"

namespace tandem::builtin {

struct Construction {
  std::string_view name;
  int weight;  // how often it is chosen, relative to the others
  Phrase (*make)(Dice& dice);
};

std::span<const Construction> simple_constructions();    // one clause about an action
std::span<const Construction> question_constructions();  // questions, commands
std::span<const Construction> quality_constructions();   // being, comparing, owning
std::span<const Construction> measure_constructions();   // numbers, prices, times
std::span<const Construction> place_constructions();     // prepositions
std::span<const Construction> complex_constructions();   // two clauses
std::span<const Construction>
relative_constructions();  // relative clauses, pronouns that refer back

std::vector<Construction> all_constructions();

// Capital letter at the start, mark at the end.
Phrase finish(std::string en, std::string de, std::string_view mark = ".");
// A main clause; what is in front (if anything) stands first in both languages.
Phrase tell(const Clause& clause, const Phrase& front = {});

}  // namespace tandem::builtin
