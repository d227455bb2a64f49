// The verbs. A row: English base, past, participle, particle; German prefix, infinitive, "er" in
// the present and in the preterite, participle, auxiliary; pattern; classes of the object; for
// prepositional objects: English and German preposition, case.
#include "data/builtin/lexicon.h"

namespace tandem::builtin {
namespace {

constexpr auto kSeinPerfect = Auxiliary::sein;
constexpr auto T = Frame::transitive;
constexpr auto P = Frame::about;
constexpr auto kAcc = Case::accusative;
constexpr auto kDat = Case::dative;
constexpr NounClass kPeople = kPerson | kRelative;

// clang-format off
constexpr Verb kVerbs[] = {
    // accusative
    {{"read", "read", "read"}, {"", "lesen", "liest", "las", "gelesen"}, T, kRead | kAtPlace},
    {{"write", "wrote", "written"}, {"", "schreiben", "schreibt", "schrieb", "geschrieben"}, T, kWrite | kAtPlace},
    {{"buy", "bought", "bought"}, {"", "kaufen", "kauft", "kaufte", "gekauft"}, T, kBuy | kAtCity},
    {{"sell", "sold", "sold"}, {"", "verkaufen", "verkauft", "verkaufte", "verkauft"}, T, kBuy | kAtCity},
    {{"eat", "ate", "eaten"}, {"", "essen", "isst", "aß", "gegessen"}, T, kFood | kAtPlace},
    {{"drink", "drank", "drunk"}, {"", "trinken", "trinkt", "trank", "getrunken"}, T, kDrink | kAtPlace},
    {{"cook", "cooked", "cooked"}, {"", "kochen", "kocht", "kochte", "gekocht"}, T, kCook},
    {{"bake", "baked", "baked"}, {"", "backen", "backt", "backte", "gebacken"}, T, kBake},
    {{"order", "ordered", "ordered"}, {"", "bestellen", "bestellt", "bestellte", "bestellt"}, T, kFood | kDrink},
    {{"open", "opened", "opened"}, {"", "öffnen", "öffnet", "öffnete", "geöffnet"}, T, kOpen},
    {{"close", "closed", "closed"}, {"", "schließen", "schließt", "schloss", "geschlossen"}, T, kShut},
    {{"repair", "repaired", "repaired"}, {"", "reparieren", "repariert", "reparierte", "repariert"}, T, kRepair},
    {{"wash", "washed", "washed"}, {"", "waschen", "wäscht", "wusch", "gewaschen"}, T, kWash},
    {{"clean", "cleaned", "cleaned"}, {"", "putzen", "putzt", "putzte", "geputzt"}, T, kClean},
    {{"draw", "drew", "drawn"}, {"", "zeichnen", "zeichnet", "zeichnete", "gezeichnet"}, T, kDraw | kAtPlace},
    {{"build", "built", "built"}, {"", "bauen", "baut", "baute", "gebaut"}, T, kBuild},
    {{"feed", "fed", "fed"}, {"", "füttern", "füttert", "fütterte", "gefüttert"}, T, kAnimal},
    {{"look", "looked", "looked"}, {"", "suchen", "sucht", "suchte", "gesucht"}, T, kLose | kAnimal, "for"},
    {{"find", "found", "found"}, {"", "finden", "findet", "fand", "gefunden"}, T, kLose | kAnimal | kAtCity, {}, {}, kAcc, {}, false, Aspect::event},
    {{"lose", "lost", "lost"}, {"", "verlieren", "verliert", "verlor", "verloren"}, T, kLose | kAtCity, {}, {}, kAcc, {}, false, Aspect::event},
    {{"forget", "forgot", "forgotten"}, {"", "vergessen", "vergisst", "vergaß", "vergessen"}, T, kLose, {}, {}, kAcc, {}, false, Aspect::event},
    {{"see", "saw", "seen"}, {"", "sehen", "sieht", "sah", "gesehen"}, T, kPeople | kAnimal | kSight | kAtCity, {}, {}, kAcc, {}, false, Aspect::event},
    {{"hear", "heard", "heard"}, {"", "hören", "hört", "hörte", "gehört"}, T, kSong | kAnimal, {}, {}, kAcc, {}, false, Aspect::event},
    {{"sing", "sang", "sung"}, {"", "singen", "singt", "sang", "gesungen"}, T, kSong | kAtPlace},
    {{"meet", "met", "met"}, {"", "treffen", "trifft", "traf", "getroffen"}, T, kPeople | kAtCity, {}, {}, kAcc, {}, false, Aspect::event},
    {{"greet", "greeted", "greeted"}, {"", "begrüßen", "begrüßt", "begrüßte", "begrüßt"}, T, kPeople},
    {{"visit", "visited", "visited"}, {"", "besuchen", "besucht", "besuchte", "besucht"}, T, kPeople | kSight | kAtCity},
    {{"attend", "attended", "attended"}, {"", "besuchen", "besucht", "besuchte", "besucht"}, T, kEvent},
    {{"ask", "asked", "asked"}, {"", "fragen", "fragt", "fragte", "gefragt"}, T, kPeople},
    {{"photograph", "photographed", "photographed"}, {"", "fotografieren", "fotografiert", "fotografierte", "fotografiert"}, T, kSight | kAnimal | kAtCity},
    {{"describe", "described", "described"}, {"", "beschreiben", "beschreibt", "beschrieb", "beschrieben"}, T, kSight | kTask},
    {{"discuss", "discussed", "discussed"}, {"", "besprechen", "bespricht", "besprach", "besprochen"}, T, kTask},
    {{"check", "checked", "checked"}, {"", "prüfen", "prüft", "prüfte", "geprüft"}, T, kTask | kDevice},
    {{"sign", "signed", "signed"}, {"", "unterschreiben", "unterschreibt", "unterschrieb", "unterschrieben"}, T, kSign},
    {{"translate", "translated", "translated"}, {"", "übersetzen", "übersetzt", "übersetzte", "übersetzt"}, T, kWrite},
    {{"wear", "wore", "worn"}, {"", "tragen", "trägt", "trug", "getragen"}, T, kClothes},
    {{"hide", "hid", "hidden"}, {"", "verstecken", "versteckt", "versteckte", "versteckt"}, T, kGift | kLose},
    // states
    {{"know", "knew", "known"}, {"", "kennen", "kennt", "kannte", "gekannt"}, T, kPeople | kSight, {}, {}, kAcc, {}, false, Aspect::state},
    {{"need", "needed", "needed"}, {"", "brauchen", "braucht", "brauchte", "gebraucht"}, T, kBuy | kLose, {}, {}, kAcc, {}, false, Aspect::state},
    {{"understand", "understood", "understood"}, {"", "verstehen", "versteht", "verstand", "verstanden"}, T, kTask, {}, {}, kAcc, {}, false, Aspect::state},
    {{"love", "loved", "loved"}, {"", "lieben", "liebt", "liebte", "geliebt"}, T, kAnimal | kSight | kSong, {}, {}, kAcc, {}, false, Aspect::state},
    // accusative, separable
    {{"call", "called", "called"}, {"an", "rufen", "ruft", "rief", "angerufen"}, T, kPeople},
    {{"pick", "picked", "picked", "up"}, {"ab", "holen", "holt", "holte", "abgeholt"}, T, kPeople},
    {{"invite", "invited", "invited"}, {"ein", "laden", "lädt", "lud", "eingeladen"}, T, kPeople},
    {{"turn", "turned", "turned", "on"}, {"ein", "schalten", "schaltet", "schaltete", "eingeschaltet"}, T, kDevice},
    {{"turn", "turned", "turned", "off"}, {"aus", "schalten", "schaltet", "schaltete", "ausgeschaltet"}, T, kDevice},
    {{"tidy", "tidied", "tidied", "up"}, {"auf", "räumen", "räumt", "räumte", "aufgeräumt"}, T, kRoom},
    {{"put", "put", "put", "on"}, {"an", "ziehen", "zieht", "zog", "angezogen"}, T, kClothes},
    {{"take", "took", "taken", "off"}, {"aus", "ziehen", "zieht", "zog", "ausgezogen"}, T, kClothes},
    {{"try", "tried", "tried", "on"}, {"an", "probieren", "probiert", "probierte", "anprobiert"}, T, kClothes},
    {{"take", "took", "taken", "along"}, {"mit", "nehmen", "nimmt", "nahm", "mitgenommen"}, T, kLose},
    {{"prepare", "prepared", "prepared"}, {"vor", "bereiten", "bereitet", "bereitete", "vorbereitet"}, T, kEvent},
    {{"lock", "locked", "locked"}, {"ab", "schließen", "schließt", "schloss", "abgeschlossen"}, T, kLock},
    {{"read", "read", "read", "out"}, {"vor", "lesen", "liest", "las", "vorgelesen"}, T, kRead},
    // dative
    {{"help", "helped", "helped"}, {"", "helfen", "hilft", "half", "geholfen"}, Frame::dative, kPeople},
    {{"thank", "thanked", "thanked"}, {"", "danken", "dankt", "dankte", "gedankt"}, Frame::dative, kPeople},
    {{"answer", "answered", "answered"}, {"", "antworten", "antwortet", "antwortete", "geantwortet"}, Frame::dative, kPeople},
    {{"follow", "followed", "followed"}, {"", "folgen", "folgt", "folgte", "gefolgt", kSeinPerfect}, Frame::dative, kRelative},
    {{"listen", "listened", "listened"}, {"zu", "hören", "hört", "hörte", "zugehört"}, Frame::dative, kPeople, "to"},
    // dative and accusative
    {{"give", "gave", "given"}, {"", "geben", "gibt", "gab", "gegeben"}, Frame::giving, kGift},
    {{"show", "showed", "shown"}, {"", "zeigen", "zeigt", "zeigte", "gezeigt"}, Frame::giving, kGift},
    {{"send", "sent", "sent"}, {"", "schicken", "schickt", "schickte", "geschickt"}, Frame::giving, kGift},
    {{"bring", "brought", "brought"}, {"", "bringen", "bringt", "brachte", "gebracht"}, Frame::giving, kGift | kDrink},
    {{"lend", "lent", "lent"}, {"", "leihen", "leiht", "lieh", "geliehen"}, Frame::giving, kLose},
    // preposition
    {{"wait", "waited", "waited"}, {"", "warten", "wartet", "wartete", "gewartet"}, P, kPeople | kRide, "for", "auf", kAcc},
    {{"think", "thought", "thought"}, {"", "denken", "denkt", "dachte", "gedacht"}, P, kPeople | kEvent, "of", "an", kAcc},
    {{"talk", "talked", "talked"}, {"", "sprechen", "spricht", "sprach", "gesprochen"}, P, kPeople | kEvent | kTask | kSight, "about", "über", kAcc},
    {{"laugh", "laughed", "laughed"}, {"", "lachen", "lacht", "lachte", "gelacht"}, P, kRelative | kSong, "at", "über", kAcc},
    {{"dream", "dreamed", "dreamed"}, {"", "träumen", "träumt", "träumte", "geträumt"}, P, kSight | kEvent, "of", "von", kDat},
    {{"ask", "asked", "asked"}, {"", "bitten", "bittet", "bat", "gebeten"}, P, kDrink | kGift, "for", "um", kAcc},
    {{"look", "looked", "looked", "after"}, {"auf", "passen", "passt", "passte", "aufgepasst"}, P, kRelative | kAnimal, "", "auf", kAcc},
    {{"take", "took", "taken", "part"}, {"teil", "nehmen", "nimmt", "nahm", "teilgenommen"}, P, kEvent, "in", "an", kDat},
    {{"look", "looked", "looked", "forward"}, {"", "freuen", "freut", "freute", "gefreut"}, P, kEvent, "to", "auf", kAcc, {}, true},
    {{"complain", "complained", "complained"}, {"", "beschweren", "beschwert", "beschwerte", "beschwert"}, P, kPeople | kTask | kDevice, "about", "über", kAcc, {}, true},
    {{"remember", "remembered", "remembered"}, {"", "erinnern", "erinnert", "erinnerte", "erinnert"}, P, kPeople | kEvent | kSight, "", "an", kAcc, {}, true, Aspect::state},
    {{"be", "was", "been", "interested"}, {"", "interessieren", "interessiert", "interessierte", "interessiert"}, P, kEvent | kSight | kRead, "in", "für", kAcc, {}, true, Aspect::state},
    {{"get", "got", "got", "used"}, {"", "gewöhnen", "gewöhnt", "gewöhnte", "gewöhnt"}, P, kSight | kDevice, "to", "an", kAcc, {}, true, Aspect::state},
    // nothing
    {{"sleep", "slept", "slept"}, {"", "schlafen", "schläft", "schlief", "geschlafen"}, Frame::intransitive, kAtPlace},
    {{"work", "worked", "worked"}, {"", "arbeiten", "arbeitet", "arbeitete", "gearbeitet"}, Frame::intransitive, kAtPlace},
    {{"dance", "danced", "danced"}, {"", "tanzen", "tanzt", "tanzte", "getanzt"}, Frame::intransitive, kAtPlace},
    {{"cry", "cried", "cried"}, {"", "weinen", "weint", "weinte", "geweint"}, Frame::intransitive, kAtPlace},
    {{"swim", "swam", "swum"}, {"", "schwimmen", "schwimmt", "schwamm", "geschwommen", kSeinPerfect}},
    {{"have", "had", "had", "breakfast"}, {"", "frühstücken", "frühstückt", "frühstückte", "gefrühstückt"}, Frame::intransitive, kAtPlace},
    {{"get", "got", "got", "up"}, {"auf", "stehen", "steht", "stand", "aufgestanden", kSeinPerfect}},
    {{"fall", "fell", "fallen", "asleep"}, {"ein", "schlafen", "schläft", "schlief", "eingeschlafen", kSeinPerfect}, Frame::intransitive, 0, {}, {}, kAcc, {}, false, Aspect::event},
    {{"wake", "woke", "woken", "up"}, {"auf", "wachen", "wacht", "wachte", "aufgewacht", kSeinPerfect}, Frame::intransitive, 0, {}, {}, kAcc, {}, false, Aspect::event},
    {{"go", "went", "gone", "shopping"}, {"ein", "kaufen", "kauft", "kaufte", "eingekauft"}},
    {{"watch", "watched", "watched", "television"}, {"fern", "sehen", "sieht", "sah", "ferngesehen"}},
    {{"go", "went", "gone", "out"}, {"aus", "gehen", "geht", "ging", "ausgegangen", kSeinPerfect}},
    {{"play", "played", "played", "football"}, {"", "spielen", "spielt", "spielte", "gespielt"}, Frame::intransitive, kOutdoors, {}, {}, kAcc, "Fußball"},
    {{"play", "played", "played", "cards"}, {"", "spielen", "spielt", "spielte", "gespielt"}, Frame::intransitive, kAtPlace, {}, {}, kAcc, "Karten"},
    {{"play", "played", "played", "the piano"}, {"", "spielen", "spielt", "spielte", "gespielt"}, Frame::intransitive, 0, {}, {}, kAcc, "Klavier"},
    {{"play", "played", "played", "the guitar"}, {"", "spielen", "spielt", "spielte", "gespielt"}, Frame::intransitive, kAtPlace, {}, {}, kAcc, "Gitarre"},
    {{"learn", "learned", "learned", "German"}, {"", "lernen", "lernt", "lernte", "gelernt"}, Frame::intransitive, kAtCity, {}, {}, kAcc, "Deutsch"},
    {{"speak", "spoke", "spoken", "French"}, {"", "sprechen", "spricht", "sprach", "gesprochen"}, Frame::intransitive, 0, {}, {}, kAcc, "Französisch"},
    {{"go", "went", "gone", "for a walk"}, {"", "gehen", "geht", "ging", "gegangen", kSeinPerfect}, Frame::intransitive, kOutdoors, {}, {}, kAcc, "spazieren"},
    // nothing but the reflexive pronoun
    {{"hurry", "hurried", "hurried"}, {"", "beeilen", "beeilt", "beeilte", "beeilt"}, Frame::intransitive, 0, {}, {}, kAcc, {}, true},
    {{"rest", "rested", "rested"}, {"aus", "ruhen", "ruht", "ruhte", "ausgeruht"}, Frame::intransitive, kAtPlace, {}, {}, kAcc, {}, true},
    {{"sit", "sat", "sat", "down"}, {"hin", "setzen", "setzt", "setzte", "hingesetzt"}, Frame::intransitive, 0, {}, {}, kAcc, {}, true},
    {{"lie", "lay", "lain", "down"}, {"hin", "legen", "legt", "legte", "hingelegt"}, Frame::intransitive, 0, {}, {}, kAcc, {}, true},
    {{"get", "got", "got", "dressed"}, {"an", "ziehen", "zieht", "zog", "angezogen"}, Frame::intransitive, 0, {}, {}, kAcc, {}, true},
    // movement to a place
    {{"go", "went", "gone"}, {"", "gehen", "geht", "ging", "gegangen", kSeinPerfect}, Frame::motion, kToRoom | kToTown},
    {{"run", "ran", "run"}, {"", "laufen", "läuft", "lief", "gelaufen", kSeinPerfect}, Frame::motion, kToRoom | kToTown},
    {{"come", "came", "come"}, {"", "kommen", "kommt", "kam", "gekommen", kSeinPerfect}, Frame::motion, kToRoom | kToTown | kToCity},
    {{"drive", "drove", "driven"}, {"", "fahren", "fährt", "fuhr", "gefahren", kSeinPerfect}, Frame::motion, kToTown | kToCity},
    {{"travel", "travelled", "travelled"}, {"", "reisen", "reist", "reiste", "gereist", kSeinPerfect}, Frame::motion, kToCity},
    {{"fly", "flew", "flown"}, {"", "fliegen", "fliegt", "flog", "geflogen", kSeinPerfect}, Frame::motion, kToCity},
};

constexpr Verb kBeVerb{kBe, kSein};
constexpr Verb kHaveVerb{kHave, kHaben, T, kBuy | kAnimal};
constexpr Verb kStandVerb{{"stand", "stood", "stood"}, {"", "stehen", "steht", "stand", "gestanden"}};
constexpr Verb kLieVerb{{"lie", "lay", "lain"}, {"", "liegen", "liegt", "lag", "gelegen"}};
constexpr Verb kHangVerb{{"hang", "hung", "hung"}, {"", "hängen", "hängt", "hing", "gehangen"}};
constexpr Verb kPutUpright{{"put", "put", "put"}, {"", "stellen", "stellt", "stellte", "gestellt"}, T, kStand};
constexpr Verb kPutDown{{"put", "put", "put"}, {"", "legen", "legt", "legte", "gelegt"}, T, kLay};
constexpr Verb kHangUp{{"hang", "hung", "hung"}, {"", "hängen", "hängt", "hängte", "gehängt"}, T, kHang};

constexpr GermanVerb kKoennen{"", "können", "kann", "konnte", "gekonnt", Auxiliary::haben, true};
constexpr GermanVerb kMuessen{"", "müssen", "muss", "musste", "gemusst", Auxiliary::haben, true};
constexpr GermanVerb kWollen{"", "wollen", "will", "wollte", "gewollt", Auxiliary::haben, true};
constexpr GermanVerb kSollen{"", "sollen", "soll", "sollte", "gesollt", Auxiliary::haben, true};
constexpr GermanVerb kDuerfen{"", "dürfen", "darf", "durfte", "gedurft", Auxiliary::haben, true};
constexpr GermanVerb kMoechten{"", "möchten", "möchte", "wollte", "gewollt", Auxiliary::haben, true};

constexpr Modal kPresentModals[] = {
    {"can", "can", "can", "", "", kKoennen},
    {"must", "must", "must", "", "", kMuessen},
    {"want", "wants", "want", "to", "want", kWollen},
    {"should", "should", "should", "", "", kSollen, true},
    {"may", "may", "may", "", "", kDuerfen},
    {"would", "would", "would", "like to", "", kMoechten},
};
constexpr Modal kPastModals[] = {
    {"could", "could", "could", "", "", kKoennen, true},
    {"had", "had", "had", "to", "have", kMuessen, true},
    {"wanted", "wanted", "wanted", "to", "want", kWollen, true},
    {"was", "was", "were", "allowed to", "", kDuerfen, true},
};
// clang-format on

}  // namespace

std::span<const Verb> verbs() {
  return kVerbs;
}
std::span<const Modal> present_modals() {
  return kPresentModals;
}
std::span<const Modal> past_modals() {
  return kPastModals;
}
const Verb& be_verb() {
  return kBeVerb;
}
const Verb& have_verb() {
  return kHaveVerb;
}
const Verb& stand_verb() {
  return kStandVerb;
}
const Verb& lie_verb() {
  return kLieVerb;
}
const Verb& hang_verb() {
  return kHangVerb;
}
const Verb& put_upright_verb() {
  return kPutUpright;
}
const Verb& lay_verb() {
  return kPutDown;
}
const Verb& hang_up_verb() {
  return kHangUp;
}

}  // namespace tandem::builtin
