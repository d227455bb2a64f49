// tandem prepare: raw text pairs to a dataset.
#include <cstdio>

#include "base/cores.h"
#include "base/format.h"
#include "base/signals.h"
#include "cli/verbs.h"
#include "data/download/corpus_folder.h"
#include "data/prepare.h"

namespace tandem {
namespace {

struct Options {
  std::string from, src, tgt, valid_src, valid_tgt, tsv, valid_tsv, out, vocab, like;
  std::string vocab_type = "bpe";
  std::int64_t vocab_size = 32000, sample_pairs = 250000, seed = 1, max_length = 250;
  std::int64_t threads = usable_cores();
  double character_coverage = 0.9999, max_ratio = 9;
  bool drop_duplicates = false, keep_equal = false, replace = false, json = false;
};

PairFiles files_of(const std::string& src, const std::string& tgt, const std::string& tsv,
                   const std::string& part) {
  const std::string prefix = part.empty() ? "--" : "--" + part + "-";
  if (tsv.empty() == (src.empty() && tgt.empty()) || src.empty() != tgt.empty()) {
    throw UserError(format("give {0}src and {0}tgt, or {0}tsv{1}; tandem prepare --help explains",
                           prefix, part.empty() ? ", or --from a folder of tandem get" : ""));
  }
  if (!tsv.empty()) return {{}, {}, tsv};
  return {fs::path(src), fs::path(tgt), {}};
}

bool names_validation(const Options& o) {
  return !(o.valid_src + o.valid_tgt + o.valid_tsv).empty();
}

// Vocabulary and validation text of a dataset that is there already.
void take_after(const Options& o, PrepareRequest& request) {
  if (!o.vocab.empty() || names_validation(o)) {
    throw UserError(
        "--like takes vocabulary and validation text from a dataset; leave out --vocab "
        "and --valid-src, --valid-tgt or --valid-tsv");
  }
  const fs::path like = o.like;
  read_card(like);
  request.vocab = like / "vocab.model";
  request.valid = {like / "valid.src.txt", like / "valid.tgt.txt", {}};
}

// Texts of a folder that tandem get has filled.
void take_from(const Options& o, PrepareRequest& request) {
  if (!(o.src + o.tgt + o.tsv).empty()) {
    throw UserError("--from takes the training text from a folder; leave out --src, --tgt, --tsv");
  }
  const CorpusTexts texts = read_corpus_folder(o.from);
  request.train = texts.train;
  request.test = texts.test;
  if (texts.valid) request.valid = *texts.valid;
}

PrepareRequest request_of(const Options& o) {
  PrepareRequest request;
  if (o.from.empty()) {
    request.train = files_of(o.src, o.tgt, o.tsv, "");
  } else {
    take_from(o, request);
  }
  request.out = o.out;
  request.replace = o.replace;
  request.vocab = o.vocab;
  if (!o.like.empty()) {
    take_after(o, request);
  } else if (request.valid.src.places.empty() || names_validation(o)) {
    request.valid = files_of(o.valid_src, o.valid_tgt, o.valid_tsv, "valid");
  }
  request.training.type = o.vocab_type;
  request.training.size = static_cast<std::int32_t>(o.vocab_size);
  request.training.character_coverage = o.character_coverage;
  request.sample_pairs = static_cast<std::uint64_t>(o.sample_pairs);
  request.seed = static_cast<std::uint64_t>(o.seed);
  request.rules = {static_cast<std::uint32_t>(o.max_length), o.max_ratio, !o.keep_equal,
                   o.drop_duplicates};
  request.threads = static_cast<std::size_t>(o.threads);
  return request;
}

// A text may have fewer pieces than were asked for, which the model's size depends on.
void warn_of_other_size(std::int64_t asked, const DatasetCard& card) {
  if (card.vocab_size == asked) return;
  const bool trained = card.vocab_sentences > 0;
  std::fputs(format("tandem: warning: the vocabulary has {} pieces and not {} (--vocab-size): {}\n",
                    card.vocab_size, asked,
                    trained ? "the text does not give more" : "it was given, not trained")
                 .c_str(),
             stderr);
}

}  // namespace

void add_prepare(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("prepare", "Turn text pairs into a dataset that training can map");
  verb.option("--from", o->from,
              "folder that tandem get has filled: its training, validation and test text, out of "
              "the archives");
  verb.option("--src", o->src, "training text, source side, one sentence a line (plain or .gz)");
  verb.option("--tgt", o->tgt, "training text, target side");
  verb.option("--tsv", o->tsv,
              "training text as one file: source, tab, target; further columns are not read");
  verb.option("--valid-src", o->valid_src, "validation text, source side");
  verb.option("--valid-tgt", o->valid_tgt, "validation text, target side");
  verb.option("--valid-tsv", o->valid_tsv, "validation text as one file");
  verb.option("--out", o->out, "folder to write the dataset to", true);
  verb.flag("--replace", o->replace, "replace the dataset that is there");
  verb.option("--vocab", o->vocab, "use this SentencePiece .model instead of training one");
  verb.option("--like", o->like,
              "take vocabulary and validation text of this dataset, to train on both "
              "(data.corpora)");
  verb.option("--vocab-size", o->vocab_size, "pieces of the vocabulary, joint for both sides", 8,
              1 << 24);
  verb.choice("--vocab-type", o->vocab_type, {"bpe", "unigram"}, "kind of vocabulary to train");
  verb.option("--character-coverage", o->character_coverage,
              "share of the characters that the vocabulary covers, 0.98 to 1", 0.98, 1);
  verb.option("--vocab-sample", o->sample_pairs,
              "pairs to train the vocabulary on, chosen at random", 1);
  verb.option("--seed", o->seed, "seed of that choice", 0);
  verb.option("--max-length", o->max_length,
              "leave out pairs with a side longer than this, in subwords", 1, UINT32_MAX);
  verb.option("--max-ratio", o->max_ratio,
              "leave out pairs whose lengths differ by more than this factor", 1, 1e9);
  verb.flag("--keep-equal", o->keep_equal, "keep pairs whose two sides are the same");
  verb.flag("--drop-duplicates", o->drop_duplicates, "leave out pairs that were there before");
  verb.option("--threads", o->threads,
              "threads that encode; the dataset is the same with any number (training a unigram "
              "vocabulary takes 16, bpe one)",
              1, 1024);
  verb.flag("--json", o->json, "print the dataset's card as JSON");
  verb.run([o, &verb] {
    const StopSignals signals;
    const DatasetCard card = prepare(request_of(*o), signals.flag());
    if (verb.was_given("--vocab-size")) warn_of_other_size(o->vocab_size, card);
    const std::string text =
        o->json ? card_json(card).dump(2) + "\n" : format("{}wrote {}\n", card_text(card), o->out);
    std::fputs(text.c_str(), stdout);
    return ExitCode::ok;
  });
}

}  // namespace tandem
