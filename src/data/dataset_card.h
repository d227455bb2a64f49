// dataset_card: card.json, what a dataset is made of: sizes, lines, tokens, what was left out and
// why. The card holds a hash of its own text, and hashes of the files that have none inside.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "data/pair_filter.h"
#include "data/special_ids.h"

namespace tandem {

struct SideCard {
  std::string file;
  std::uint64_t text_bytes = 0;  // uncompressed, line ends included
  std::uint64_t tokens = 0;      // subwords of the pairs kept
  // lengths[k]: kept sentences with kHistogramBin * k up to kHistogramBin * (k + 1) - 1 subwords
  std::vector<std::uint64_t> lengths;
};
constexpr std::uint64_t kHistogramBin = 10;

struct PartCard {
  SideCard src, tgt;
  std::uint64_t lines = 0;
  std::uint64_t pairs = 0;
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::array<std::uint64_t, kDropReasons> first_dropped{};  // line, from 1; 0: none, or not known
  std::uint64_t fingerprint = 0;
};

struct DatasetCard {
  std::string vocab_type;
  std::int32_t vocab_size = 0;
  std::uint64_t vocab_hash = 0;
  SpecialIds special;
  std::uint64_t vocab_sentences = 0;  // it was trained on; 0: it was given
  PartCard train, valid;
  std::uint64_t valid_pairs_in_train = 0, valid_sources_in_train = 0;
  std::map<std::string, std::uint64_t> file_hashes;
};

Json card_json(const DatasetCard& card);
// What a person wants to know at a glance.
std::string card_text(const DatasetCard& card);

void write_card(const fs::path& dataset, const DatasetCard& card);
inline constexpr const char *kValidSources = "valid.src.txt", *kValidReferences = "valid.tgt.txt";

// Checks the card's own hash.
DatasetCard read_card(const fs::path& dataset);

}  // namespace tandem
