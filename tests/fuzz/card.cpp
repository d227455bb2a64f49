// card.json of a prepared dataset, with its own hash put right.
#include "base/error.h"
#include "base/hash.h"
#include "data/dataset_card.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

std::string with_right_card_hash(std::string text) {
  constexpr std::string_view kKey = "\"card_hash\": \"";
  constexpr std::string_view kNone = "0000000000000000";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos || text.size() < at + kKey.size() + kNone.size()) return text;
  text.replace(at + kKey.size(), kNone.size(), kNone);
  return text.replace(at + kKey.size(), kNone.size(), hash_text(hash64(text)));
}

void read_any_card(std::string_view input) {
  scratch_file("card.json", with_right_card_hash(std::string(input)));
  const DatasetCard card = read_card(scratch_folder());
  check(!card_text(card).empty(), "a card without text");
  card_json(card);
}

std::vector<std::string> card_seeds() {
  DatasetCard card;
  card.vocab_type = "bpe";
  card.vocab_size = 100;
  card.vocab_hash = 0x123456789abcdef0;
  card.special = {0, 1, 2, 3};
  card.train = {{"a.src", 1000, 200, {3, 2}}, {"a.tgt", 1100, 210, {5}}, 10, 9, {}, 77};
  card.valid = {{"v.src", 10, 2, {1}}, {"v.tgt", 11, 2, {1}}, 1, 1, {}, 78};
  card.file_hashes = {{"vocab.model", 1}, {"valid.src", 2}};
  write_card(scratch_folder(), card);
  return {read_file(scratch_folder() / "card.json")};
}

const FuzzTarget kCardTarget{"card", read_any_card, card_seeds, 1000};

}  // namespace
}  // namespace tandem
