// builtin/clause: a clause as its parts (who does what to whom, where, when) and its word order in
// both languages. German has three orders of one clause: verb second, verb first, verb last.
#pragma once

#include <optional>
#include <string>

#include "data/builtin/phrase.h"

namespace tandem::builtin {

// English tense and what German says for it.
enum class Tense {
  present,           // reads: liest
  progressive,       // is reading: liest gerade
  since,             // has been reading (for two hours): liest (seit zwei Stunden)
  past,              // read: hat gelesen; was, had: war, hatte
  narrative,         // read, in a past sentence with a clause of time: las
  past_progressive,  // was reading: las
  past_perfect,      // had read: hatte gelesen
  future,            // will read: wird lesen
};

struct Clause {
  NounPhrase subject;
  const Verb* verb = nullptr;
  Tense tense = Tense::present;
  const Modal* modal = nullptr;  // instead of a tense
  bool passive = false;          // the subject suffers it: is opened, wird geöffnet; was, wurde
  bool negated = false;
  std::optional<NounPhrase> dative, accusative;
  Phrase about;       // prepositional object: for the bus, auf den Bus
  Phrase manner;      // with his brother
  Phrase place;       // in the park, to Berlin
  Phrase time;        // every day
  Phrase complement;  // what belongs closest to the verb: old, a doctor
};

// English: "he does not read the letter", "does he read the letter", "read the letter".
std::string english_statement(const Clause& clause);
std::string english_question(const Clause& clause);    // the finite verb first
std::string english_infinitive(const Clause& clause);  // without "to" and without the subject
std::string english_gerund(const Clause& clause);      // "reading the letter"
std::string english_predicate(const Clause& clause);   // "reads the letter": behind "who"

// German main clause. front: what stands before the verb instead of the subject, or "".
std::string german_main(const Clause& clause, std::string_view front = "");
std::string german_question(const Clause& clause);  // "liest er den Brief"
// "er den Brief liest"; behind a conjunction or a question word.
std::string german_final(const Clause& clause);
// The same without the subject; behind a relative pronoun that is the subject: "den Brief liest".
std::string german_final_predicate(const Clause& clause);
std::string german_main_predicate(const Clause& clause);  // "liest den Brief": behind "wer"
std::string german_zu_infinitive(const Clause& clause);   // "den Brief zu lesen"
std::string german_imperative(
    const Clause& clause);  // "lies den Brief", by the subject's du/Sie/ihr

}  // namespace tandem::builtin
