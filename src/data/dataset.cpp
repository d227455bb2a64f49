#include "data/dataset.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/corpus.h"

namespace tandem {
namespace {

constexpr std::array kFiles = {"card.json",     "train.index",  "train.tokens", "valid.index",
                               "valid.tokens",  "vocab.model",  "vocab.vocab",  "valid.src.txt",
                               "valid.tgt.txt", "test.src.txt", "test.tgt.txt"};

void verify_part(const fs::path& dataset, const std::string& name, const PartCard& part,
                 const DatasetCard& card) {
  const Corpus corpus(dataset, name);
  corpus.verify();
  if (corpus.vocab_hash() != card.vocab_hash) {
    throw UserError(format("{}/{}.index was made with the vocabulary {}, but vocab.model is {}",
                           dataset.string(), name, hash_text(corpus.vocab_hash()),
                           hash_text(card.vocab_hash)));
  }
  if (corpus.fingerprint() != part.fingerprint) {
    throw UserError(format("{}/{}.index is not the one that card.json tells of ({} instead of {})",
                           dataset.string(), name, hash_text(corpus.fingerprint()),
                           hash_text(part.fingerprint)));
  }
}

}  // namespace

void verify_file(const fs::path& dataset, const DatasetCard& card, const std::string& name) {
  const MappedFile file(dataset / name);
  const auto known = card.file_hashes.find(name);
  const std::string is = hash_text(hash64(file.bytes()));
  const std::string was = known == card.file_hashes.end() ? "none" : hash_text(known->second);
  if (is == was) return;
  throw UserError(
      format("{}: damaged or exchanged (hash {} instead of {}); prepare the dataset again",
             (dataset / name).string(), is, was));
}

DatasetCard verify_dataset(const fs::path& dataset) {
  DatasetCard card = read_card(dataset);
  for (const auto& [name, hash] : card.file_hashes) verify_file(dataset, card, name);
  verify_part(dataset, "train", card.train, card);
  verify_part(dataset, "valid", card.valid, card);
  return card;
}

std::string reason_not_to_replace(const fs::path& folder) {
  std::error_code none;
  if (!fs::exists(fs::symlink_status(folder, none))) return {};
  if (!fs::is_directory(folder, none)) return format("{} is no folder", folder.string());
  if (fs::is_empty(folder, none)) return {};
  if (!fs::exists(folder / "card.json", none)) {
    return format("{} is there and is no dataset", folder.string());
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (std::ranges::find(kFiles, entry.path().filename()) != kFiles.end()) continue;
    return format("{} is no file of the dataset and would be deleted with it",
                  entry.path().string());
  }
  return {};
}

}  // namespace tandem
