// builtin/scene: phrases and clauses that make sense: somebody, what they do, to what, where and
// when.
#pragma once

#include <span>

#include "data/builtin/choice.h"
#include "data/builtin/clause.h"

namespace tandem::builtin {

// Somebody who acts. Never a pronoun; one that "he", "she" or "they" can refer to.
NounPhrase somebody(Dice& dice);
NounPhrase somebody_or_pronoun(Dice& dice);
// Somebody of whom another is told something: not the same noun.
NounPhrase somebody_else(Dice& dice, const NounPhrase& than);
NounPhrase first_name(Dice& dice);
NounPhrase titled_name(Dice& dice);  // Mr Weber

// A definite phrase: the (old) lamp.
NounPhrase definite(Dice& dice, const Noun& noun, Number number, int adjective_percent);
// The object of somebody's action: a lamp, the red lamp, his lamp, his brother, fresh milk.
NounPhrase object_of(Dice& dice, NounClass classes, const NounPhrase& subject);

// His hat, their hats; the owner is one that a pronoun can refer to.
NounPhrase own(const Noun& noun, const NounPhrase& owner);

// Preposition and phrase in both languages: "for my mother", "für meine Mutter".
Phrase with_prepositions(std::string_view en, std::string_view de, Case c,
                         const NounPhrase& phrase);

Phrase at_place(Dice& dice);
Phrase at_place(Dice& dice, const Place& place);
Phrase at_city(Dice& dice);
Phrase to_place(Dice& dice, NounClass reach);
Phrase pick_time(Dice& dice, std::span<const WordPair> times);
// Far from now only for what is worth remembering or planning: nobody got dressed last summer.
Phrase past_time(Dice& dice, const Verb& verb);
Phrase future_time(Dice& dice, const Verb& verb);
Phrase long_ago(Dice& dice);    // last year
Phrase clock_time(Dice& dice);  // at half past six

// What kinds of verb an action may have.
struct ActionKind {
  Aspect up_to = Aspect::state;
  bool negatable = false;  // only what "nicht" or "kein" negates naturally
  bool place = true;       // may have a place
};
// Subject and verb, nothing else yet.
Clause clause_of(const NounPhrase& subject, const Verb& verb);
// A clause in the present without a time.
Clause action(Dice& dice, const NounPhrase& subject, const ActionKind& kind = {});
// The same with a verb of one's choice, objects and place filled in.
Clause action_with(Dice& dice, const NounPhrase& subject, const Verb& verb, bool place = true);

}  // namespace tandem::builtin
