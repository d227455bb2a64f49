#include "data/builtin/clause.h"

#include "base/error.h"

namespace tandem::builtin {
namespace {

bool is_past(Tense tense) {
  return tense == Tense::past || tense == Tense::narrative || tense == Tense::past_progressive;
}

// ---- English: a finite verb, then the rest of the verb.
struct EnglishGroup {
  std::string finite, rest;
};

// The verb without tense, with its particle left out: "open", "be opened".
std::string english_bare(const Clause& clause) {
  const auto& verb = clause.verb->en;
  return std::string(clause.passive ? join_words({"be", verb.participle}) : verb.base);
}

EnglishGroup english_modal_group(const Clause& clause, bool with_do) {
  const auto& modal = *clause.modal;
  const auto [person, number, gender] = clause.subject.agreement;
  if (with_do && !modal.en_do_base.empty()) {
    const auto form =
        modal.preterite ? english_past(kDo, person, number) : english_present(kDo, person, number);
    return {form, join_words({modal.en_do_base, modal.en_rest, english_bare(clause)})};
  }
  const bool singular = number == Number::singular;
  const auto finite = !singular                 ? modal.en_plural
                      : person == Person::third ? modal.en_third
                                                : modal.en_first;
  return {std::string(finite), join_words({modal.en_rest, english_bare(clause)})};
}

EnglishGroup english_group(const Clause& clause, bool with_do) {
  if (clause.modal) return english_modal_group(clause, with_do);
  const auto& verb = clause.verb->en;
  const Agreement& who = clause.subject.agreement;
  const auto be_or_do = [&](const EnglishVerb& helper, bool past) {
    return past ? english_past(helper, who.person, who.number)
                : english_present(helper, who.person, who.number);
  };
  const bool past = is_past(clause.tense);
  if (clause.tense == Tense::future) return {"will", english_bare(clause)};
  if (clause.passive) return {be_or_do(kBe, past), std::string(verb.participle)};
  switch (clause.tense) {
    case Tense::progressive:
      return {be_or_do(kBe, false), english_ing(verb.base)};
    case Tense::past_progressive:
      return {be_or_do(kBe, true), english_ing(verb.base)};
    case Tense::since:
      return {be_or_do(kHave, false), join_words({"been", english_ing(verb.base)})};
    case Tense::past_perfect:
      return {"had", std::string(verb.participle)};
    default:
      break;
  }
  if (with_do && verb.base != "be") return {be_or_do(kDo, past), std::string(verb.base)};
  return {be_or_do(verb, past), ""};
}

// Everything behind the verb.
std::string english_tail(const Clause& clause) {
  const auto& verb = *clause.verb;
  const auto& object = clause.accusative;
  const std::string objects =
      join_words({verb.frame == Frame::about ? "" : verb.en_preposition,
                  clause.dative ? clause.dative->en_object : "", object ? object->en_object : ""});
  // turns it on, takes the key along; but: turns on the lamp
  const bool particle_last = (object && object->is_pronoun) || verb.en.particle == "along";
  return join_words({particle_last ? "" : verb.en.particle, objects,
                     particle_last ? verb.en.particle : "", clause.complement.en, clause.about.en,
                     clause.place.en, clause.manner.en, clause.time.en});
}

std::string english_not(const Clause& clause) {
  return clause.negated ? "not" : "";
}

std::string english_finish(std::string text) {
  if (const auto at = text.find("can not ");
      at != std::string::npos && (at == 0 || text[at - 1] == ' '))
    text.replace(at, 8, "cannot ");
  return text;
}

// ---- German: the finite verb, what stands at the end, and both together at the end.
struct GermanGroup {
  std::string finite, tail, final;
};

GermanGroup joined(std::string finite, std::string tail) {
  auto final = join_words({tail, finite});
  return {std::move(finite), std::move(tail), std::move(final)};
}

GermanGroup simple_group(const GermanVerb& verb, std::string finite) {
  auto final = std::string(verb.prefix) + finite;
  return {std::move(finite), std::string(verb.prefix), std::move(final)};
}

std::string german_bare(const Clause& clause) {
  const auto& verb = clause.verb->de;
  return clause.passive ? join_words({verb.participle, "werden"}) : full_infinitive(verb);
}

GermanGroup german_group(const Clause& clause) {
  const auto& verb = clause.verb->de;
  const auto [person, number, gender] = clause.subject.agreement;
  if (clause.modal) {
    const auto& modal = *clause.modal;
    return joined(modal.preterite ? preterite_form(modal.de, person, number)
                                  : present_form(modal.de, person, number),
                  german_bare(clause));
  }
  const bool past = is_past(clause.tense);
  if (clause.tense == Tense::future)
    return joined(present_form(kWerden, person, number), german_bare(clause));
  if (clause.passive)
    return joined(
        past ? preterite_form(kWerden, person, number) : present_form(kWerden, person, number),
        std::string(verb.participle));
  const auto& helper = verb.auxiliary == Auxiliary::sein ? kSein : kHaben;
  const bool is_helper = verb.infinitive == "sein" || verb.infinitive == "haben";
  switch (clause.tense) {
    case Tense::past:
      if (!is_helper)
        return joined(present_form(helper, person, number), std::string(verb.participle));
      break;
    case Tense::past_perfect:
      return joined(preterite_form(helper, person, number), std::string(verb.participle));
    default:
      break;
  }
  return simple_group(
      verb, past ? preterite_form(verb, person, number) : present_form(verb, person, number));
}

std::string german_reflexive(const Clause& clause) {
  if (!clause.verb->reflexive) return "";
  check(clause.subject.refer != nullptr || clause.subject.agreement.person == Person::third,
        "a reflexive verb needs a person");
  return std::string(clause.subject.refer ? clause.subject.refer->de_reflexive : "sich");
}

// Between the finite verb and the end, without subject and reflexive pronoun: pronouns, time,
// dative, accusative, "nicht", manner, preposition, place.
std::string german_middle(const Clause& clause) {
  std::string early, dative, accusative;
  bool has_kein = false;
  if (clause.accusative) {
    const auto& object = *clause.accusative;
    has_kein = clause.negated && !object.de_negated_accusative.empty();
    (object.is_pronoun ? early : accusative) =
        has_kein ? object.de_negated_accusative : object.in(Case::accusative);
  }
  if (clause.dative) {
    if (clause.dative->is_pronoun)
      early = join_words({early, clause.dative->in(Case::dative)});
    else
      dative = clause.dative->in(Case::dative);
  }
  const bool progressive = clause.tense == Tense::progressive && !clause.modal;
  return join_words({early, clause.time.de, progressive ? "gerade" : "", dative, accusative,
                     clause.negated && !has_kein ? "nicht" : "", clause.manner.de, clause.about.de,
                     clause.place.de, clause.complement.de, clause.verb->de_fixed});
}

}  // namespace

std::string english_statement(const Clause& clause) {
  return join_words({clause.subject.en, english_predicate(clause)});
}

std::string english_predicate(const Clause& clause) {
  const auto group = english_group(clause, clause.negated);
  return english_finish(
      join_words({group.finite, english_not(clause), group.rest, english_tail(clause)}));
}

std::string english_question(const Clause& clause) {
  const auto group = english_group(clause, true);
  return join_words(
      {group.finite, clause.subject.en, english_not(clause), group.rest, english_tail(clause)});
}

std::string english_infinitive(const Clause& clause) {
  return join_words({english_not(clause), english_bare(clause), english_tail(clause)});
}

std::string english_gerund(const Clause& clause) {
  return join_words({english_ing(clause.verb->en.base), english_tail(clause)});
}

std::string german_main(const Clause& clause, std::string_view front) {
  const auto group = german_group(clause);
  const auto& subject = clause.subject.in(Case::nominative);
  const auto reflexive = german_reflexive(clause);
  const auto middle = german_middle(clause);
  if (front.empty()) return join_words({subject, group.finite, reflexive, middle, group.tail});
  // "Heute freut sich der Mann", but "heute freut er sich".
  if (clause.subject.is_pronoun)
    return join_words({front, group.finite, subject, reflexive, middle, group.tail});
  return join_words({front, group.finite, reflexive, subject, middle, group.tail});
}

std::string german_question(const Clause& clause) {
  const auto group = german_group(clause);
  const auto& subject = clause.subject.in(Case::nominative);
  const auto reflexive = german_reflexive(clause);
  const bool subject_first = clause.subject.is_pronoun;
  return join_words({group.finite, subject_first ? subject : reflexive,
                     subject_first ? reflexive : subject, german_middle(clause), group.tail});
}

std::string german_final(const Clause& clause) {
  return join_words({clause.subject.in(Case::nominative), german_final_predicate(clause)});
}

std::string german_final_predicate(const Clause& clause) {
  return join_words({german_reflexive(clause), german_middle(clause), german_group(clause).final});
}

std::string german_main_predicate(const Clause& clause) {
  const auto group = german_group(clause);
  return join_words({group.finite, german_reflexive(clause), german_middle(clause), group.tail});
}

std::string german_zu_infinitive(const Clause& clause) {
  return join_words(
      {german_reflexive(clause), german_middle(clause), infinitive_with_zu(clause.verb->de)});
}

std::string german_imperative(const Clause& clause) {
  const auto& verb = clause.verb->de;
  const auto& agreement = clause.subject.agreement;
  const bool formal = agreement.person == Person::third;
  const std::string finite =
      formal ? join_words({verb.infinitive, clause.subject.in(Case::nominative)})
             : imperative_form(verb, agreement.number);
  return join_words({finite, german_reflexive(clause), german_middle(clause), verb.prefix});
}

}  // namespace tandem::builtin
