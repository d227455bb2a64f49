// tandem inspect: what a file or folder of ours is: sizes, hashes, whether it is whole.
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/inspect_trained.h"
#include "cli/verbs.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "data/vocab.h"
#include "model/model_path.h"

namespace tandem {
namespace {

struct Options {
  std::string path;
  std::int64_t pairs = 0;
  bool verify = false, json = false;
};

Json inspect_vocab(const fs::path& path) {
  const auto vocab = Vocab::load(path);
  const SpecialIds special = vocab->special_ids();
  return Json::object()
      .set("kind", "vocabulary")
      .set("type", vocab->type())
      .set("size", vocab->size())
      .set("pad", special.pad)
      .set("bos", special.bos)
      .set("eos", special.eos)
      .set("unk", special.unk)
      .set("hash", hash_text(vocab->hash()));
}

Json file_sizes(const fs::path& dataset) {
  Json sizes = Json::object();
  for (const char* name :
       {"train.tokens", "train.index", "valid.tokens", "valid.index", "valid.src.txt",
        "valid.tgt.txt", "vocab.model", "vocab.vocab", "card.json"}) {
    if (!fs::exists(dataset / name)) {
      throw UserError(
          format("{} is missing; prepare the dataset again", (dataset / name).string()));
    }
    sizes.set(name, fs::file_size(dataset / name));
  }
  return sizes;
}

// The first training pairs, decoded: a look at what training will see.
Json first_pairs(const fs::path& dataset, std::size_t count) {
  const auto vocab = Vocab::load(dataset / "vocab.model");
  const Corpus corpus(dataset, "train");
  Json pairs = Json::array();
  for (std::size_t i = 0; i < std::min(count, corpus.size()); ++i) {
    std::vector<std::int32_t> src(corpus.lengths().src(i)), tgt(corpus.lengths().tgt(i));
    corpus.copy_src(i, src.data());
    corpus.copy_tgt(i, tgt.data());
    pairs.push(Json::object().set("src", vocab->decode(src)).set("tgt", vocab->decode(tgt)));
  }
  return pairs;
}

void print_dataset(const DatasetCard& card, const Json& facts) {
  std::string text = card_text(card);
  for (const auto& [name, size] : facts.at("bytes").members()) {
    text += format("  {:<14} {:>12} bytes\n", name, size.as_int());
  }
  for (const Json& pair : facts.at("pairs").items()) {
    text += format("src: {}\ntgt: {}\n", without_controls(pair.at("src").as_string()),
                   without_controls(pair.at("tgt").as_string()));
  }
  if (facts.at("verified").as_bool()) text += "every byte was read and is sound\n";
  std::fputs(text.c_str(), stdout);
}

// A line for each fact; below it those of an object, a line each.
void print_members(const Json& facts, const std::string& indent = "") {
  for (const auto& [name, value] : facts.members()) {
    const bool nested = value.is_object();
    const std::string text = nested              ? ""
                             : value.is_string() ? without_controls(value.as_string())
                                                 : value.dump();
    const std::string line = format("{}{:<16} {}\n", indent, without_controls(name), text);
    std::fputs(line.c_str(), stdout);
    if (nested) print_members(value, indent + "  ");
  }
}

Json inspect_folder(const fs::path& folder, bool verify) {
  if (is_checkpoint_folder(folder)) return inspect_checkpoint(folder, verify);
  if (is_model_folder(folder)) return inspect_model(folder, verify);
  if (is_run_folder(folder)) return inspect_run(folder, verify);
  throw UserError(
      format("{} is no dataset (it has no card.json), checkpoint, model or run; tandem prepare "
             "makes datasets, tandem train the others",
             folder.string()));
}

void inspect_dataset(const Options& o) {
  const DatasetCard card = o.verify ? verify_dataset(o.path) : read_card(o.path);
  Json facts = card_json(card);
  facts.set("kind", "dataset")
      .set("verified", o.verify)
      .set("bytes", file_sizes(o.path))
      .set("pairs", first_pairs(o.path, static_cast<std::size_t>(o.pairs)));
  if (o.json) {
    std::puts(facts.dump(2).c_str());
  } else {
    print_dataset(card, facts);
  }
}

}  // namespace

void add_inspect(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb(
      "inspect",
      "Show what a dataset, vocabulary, checkpoint, model or run is, and whether it is whole");
  verb.positional("PATH", o->path,
                  "folder of a dataset, checkpoint, model or run; a SentencePiece .model or a "
                  ".safetensors");
  verb.flag("--verify", o->verify, "read every byte and compare all hashes");
  verb.option("--pairs", o->pairs, "of a dataset: show the first N training pairs, decoded", 0);
  verb.flag("--json", o->json, "print JSON");
  verb.run([o] {
    const fs::path path = o->path;
    if (fs::exists(path / "card.json")) {
      inspect_dataset(*o);
      return ExitCode::ok;
    }
    const Json facts = fs::is_directory(path)               ? inspect_folder(path, o->verify)
                       : path.extension() == ".safetensors" ? inspect_weights(path)
                                                            : inspect_vocab(path);
    if (o->json) {
      std::puts(facts.dump(2).c_str());
    } else {
      print_members(facts);
    }
    return ExitCode::ok;
  });
}

}  // namespace tandem
