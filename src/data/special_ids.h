// special_ids: the ids with a meaning of their own. -1: the vocabulary has none.
#pragma once

#include <cstdint>

namespace tandem {

struct SpecialIds {
  std::int32_t pad = -1, bos = -1, eos = -1, unk = -1;
  bool operator==(const SpecialIds&) const = default;
};

}  // namespace tandem
