#include "data/dataset_card.h"

#include <charconv>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr int kCardVersion = 1;
constexpr std::string_view kNoHash = "0000000000000000";

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

Json side_json(const SideCard& side) {
  Json lengths = Json::array();
  for (const std::uint64_t count : side.lengths) lengths.push(count);
  return Json::object()
      .set("file", side.file)
      .set("text_bytes", side.text_bytes)
      .set("megabytes", megabytes(side.text_bytes))
      .set("tokens", side.tokens)
      .set("length_histogram", std::move(lengths));
}

SideCard side_from(const Json& json) {
  SideCard side;
  side.file = json.at("file").as_string();
  side.text_bytes = static_cast<std::uint64_t>(json.at("text_bytes").as_int());
  side.tokens = static_cast<std::uint64_t>(json.at("tokens").as_int());
  for (const Json& count : json.at("length_histogram").items()) {
    side.lengths.push_back(static_cast<std::uint64_t>(count.as_int()));
  }
  return side;
}

Json part_json(const PartCard& part) {
  Json dropped = Json::object(), first_dropped = Json::object();
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    dropped.set(kDropNames[i], part.dropped[i]);
    if (part.first_dropped[i] > 0) first_dropped.set(kDropNames[i], part.first_dropped[i]);
  }
  return Json::object()
      .set("lines", part.lines)
      .set("pairs", part.pairs)
      .set("dropped", std::move(dropped))
      .set("first_dropped", std::move(first_dropped))
      .set("src", side_json(part.src))
      .set("tgt", side_json(part.tgt))
      .set("fingerprint", hash_text(part.fingerprint));
}

std::uint64_t hash_from(const Json& json) {
  const std::string& text = json.as_string();
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UserError(format("\"{}\" is not a hash", text));
  }
  return hash;
}

PartCard part_from(const Json& json) {
  PartCard part;
  part.lines = static_cast<std::uint64_t>(json.at("lines").as_int());
  part.pairs = static_cast<std::uint64_t>(json.at("pairs").as_int());
  const Json* first = json.find("first_dropped");  // cards of old have none
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    part.dropped[i] = static_cast<std::uint64_t>(json.at("dropped").at(kDropNames[i]).as_int());
    const Json* line = first == nullptr ? nullptr : first->find(kDropNames[i]);
    if (line != nullptr) part.first_dropped[i] = static_cast<std::uint64_t>(line->as_int());
  }
  part.src = side_from(json.at("src"));
  part.tgt = side_from(json.at("tgt"));
  part.fingerprint = hash_from(json.at("fingerprint"));
  return part;
}

DatasetCard card_from(const Json& json) {
  DatasetCard card;
  const Json& vocab = json.at("vocab");
  card.vocab_type = vocab.at("type").as_string();
  card.vocab_size = static_cast<std::int32_t>(vocab.at("size").as_int());
  card.vocab_hash = hash_from(vocab.at("hash"));
  const auto id = [&](std::string_view name) {
    return static_cast<std::int32_t>(vocab.at(name).as_int());
  };
  card.special = {id("pad"), id("bos"), id("eos"), id("unk")};
  card.vocab_sentences = static_cast<std::uint64_t>(vocab.at("trained_on_sentences").as_int());
  card.train = part_from(json.at("train"));
  card.valid = part_from(json.at("valid"));
  const Json& overlap = json.at("valid_in_train");
  card.valid_pairs_in_train = static_cast<std::uint64_t>(overlap.at("pairs").as_int());
  card.valid_sources_in_train = static_cast<std::uint64_t>(overlap.at("sources").as_int());
  for (const auto& [name, hash] : json.at("files").members()) {
    card.file_hashes[name] = hash_from(hash);
  }
  return card;
}

// The card's hash is taken over its text with the hash itself set to zeros.
std::uint64_t own_hash(std::string text, std::size_t hash_at) {
  text.replace(hash_at, kNoHash.size(), kNoHash);
  return hash64(text);
}

std::size_t hash_position(std::string_view text) {
  constexpr std::string_view kKey = "\"card_hash\": \"";
  const std::size_t key = text.find(kKey);
  if (key == std::string_view::npos || text.size() < key + kKey.size() + kNoHash.size()) {
    return std::string_view::npos;
  }
  return key + kKey.size();
}

std::string part_text(std::string_view name, const PartCard& part) {
  std::string text = format("{:<6} {:>11} pairs of {} lines\n", name, part.pairs, part.lines);
  const auto side_line = [&](std::string_view label, const SideCard& side) {
    const double mean =
        part.pairs == 0 ? 0.0 : static_cast<double>(side.tokens) / static_cast<double>(part.pairs);
    text += format("  {}  {:>10.3f} MB  {:>11} tokens, {:.1f} a sentence  {}\n", label,
                   megabytes(side.text_bytes), side.tokens, mean, without_controls(side.file));
  };
  side_line("src", part.src);
  side_line("tgt", part.tgt);
  std::string reasons;
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    if (part.dropped[i] == 0) continue;
    reasons += format("{}{} {}", reasons.empty() ? "" : ", ", kDropNames[i], part.dropped[i]);
    if (part.first_dropped[i] > 0) reasons += format(" (first in line {})", part.first_dropped[i]);
  }
  return text + format("  left out: {}\n", reasons.empty() ? "nothing" : reasons);
}

}  // namespace

Json card_json(const DatasetCard& card) {
  Json files = Json::object();
  for (const auto& [name, hash] : card.file_hashes) files.set(name, hash_text(hash));
  return Json::object()
      .set("version", kCardVersion)
      .set("vocab", Json::object()
                        .set("type", card.vocab_type)
                        .set("size", card.vocab_size)
                        .set("hash", hash_text(card.vocab_hash))
                        .set("trained_on_sentences", card.vocab_sentences)
                        .set("pad", card.special.pad)
                        .set("bos", card.special.bos)
                        .set("eos", card.special.eos)
                        .set("unk", card.special.unk))
      .set("train", part_json(card.train))
      .set("valid", part_json(card.valid))
      .set("length_histogram_bin", kHistogramBin)
      .set("valid_in_train", Json::object()
                                 .set("pairs", card.valid_pairs_in_train)
                                 .set("sources", card.valid_sources_in_train))
      .set("files", std::move(files));
}

std::string card_text(const DatasetCard& card) {
  std::string text = part_text("train", card.train) + part_text("valid", card.valid);
  text += format("  in train too: {} pairs, {} sources\n", card.valid_pairs_in_train,
                 card.valid_sources_in_train);
  text += format(
      "vocab  {:>11} {} pieces, {}\n", card.vocab_size, without_controls(card.vocab_type),
      card.vocab_sentences > 0 ? format("trained on {} sentences", card.vocab_sentences) : "given");
  text += format("  pad {}, bos {}, eos {}, unk {}\n", card.special.pad, card.special.bos,
                 card.special.eos, card.special.unk);
  return text + format("hash   {}\n", hash_text(card.train.fingerprint));
}

void write_card(const fs::path& dataset, const DatasetCard& card) {
  std::string text = card_json(card).set("card_hash", kNoHash).dump(2) + "\n";
  const std::size_t at = hash_position(text);
  text.replace(at, kNoHash.size(), hash_text(hash64(text)));
  atomic_write(dataset / "card.json", text);
}

DatasetCard read_card(const fs::path& dataset) {
  const fs::path path = dataset / "card.json";
  if (!fs::exists(path)) {
    throw UserError(format("{} is not a dataset: it has no card.json; tandem prepare makes one",
                           dataset.string()));
  }
  const std::string text = read_file(path);
  const std::size_t at = hash_position(text);
  if (at == std::string::npos || text.substr(at, kNoHash.size()) != hash_text(own_hash(text, at))) {
    throw UserError(format("{}: the card is damaged; prepare the dataset again", path.string()));
  }
  return card_from(Json::parse(text, path.string()));
}

}  // namespace tandem
