// corpus_format: the header of PART.index, byte for byte. docs/formats.md tells the rest.
#pragma once

#include <bit>
#include <cstdint>

#include "data/special_ids.h"

namespace tandem {

static_assert(std::endian::native == std::endian::little, "the format is mapped, not converted");

constexpr char kCorpusMagic[8] = {'T', 'A', 'N', 'D', 'E', 'M', 'I', 'X'};
constexpr std::uint32_t kCorpusVersion = 1;
// Tokens are hashed in blocks of this size, so that damage can be located.
constexpr std::uint64_t kHashBlockBytes = 1 << 20;

struct CorpusHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t bytes_per_id;  // 2 for vocabularies up to 65536, else 4
  std::uint64_t pairs;
  std::uint64_t ids;  // in PART.tokens
  SpecialIds special;
  std::int32_t vocab_size;
  std::int32_t reserved;
  std::uint64_t vocab_hash;
  std::uint64_t body_hash;    // of all bytes behind this header
  std::uint64_t header_hash;  // of all bytes of this header before this field
};
static_assert(sizeof(CorpusHeader) == 80);

}  // namespace tandem
