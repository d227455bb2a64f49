#include "model/packed_tokens.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "model/ops/dropout_hash.h"

namespace tandem {

Tensor int_tensor(std::span<const std::int32_t> values) {
  Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kInt);
  std::ranges::copy(values, tensor.mutable_data_ptr<std::int32_t>());
  return tensor;
}

PackedTokens pack_tokens(std::span<const std::int32_t> ids, std::span<const std::int32_t> offsets,
                         std::span<const std::int32_t> places, std::int64_t max_positions,
                         const std::optional<DropoutStep>& dropout, at::Device device) {
  const auto count = static_cast<std::int64_t>(ids.size());
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == count,
        "offsets must span all tokens");
  check(!dropout || places.size() + 1 == offsets.size(), "dropout needs each sentence's place");
  Tensor positions = at::empty({count}, at::kInt);
  auto* position = positions.mutable_data_ptr<std::int32_t>();
  Tensor keys = dropout ? at::empty({count}, at::kLong) : Tensor();
  auto* key = dropout ? keys.mutable_data_ptr<std::int64_t>() : nullptr;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::int32_t length = offsets[i + 1] - offsets[i];
    check(length > 0, "a sentence without tokens");
    if (length > max_positions) {
      throw UserError(format(
          "a sentence of {} tokens is longer than model.max_positions = {}; cut it, or train with "
          "a larger value",
          length, max_positions));
    }
    for (std::int32_t at = 0; at < length; ++at) {
      *position++ = at;
      if (key != nullptr) {
        *key++ = static_cast<std::int64_t>(token_key(dropout->seed, dropout->step, places[i], at));
      }
    }
  }
  return {int_tensor(ids).to(device), positions.to(device), int_tensor(offsets),
          dropout ? keys.to(device) : Tensor()};
}

}  // namespace tandem
