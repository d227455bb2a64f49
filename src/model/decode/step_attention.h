// step_attention: attention of one step of decoding, on raw rows, by the calling thread alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::cpu {

struct HeadShape {
  std::int64_t heads, width;  // width of a head
};

// All heads of one query over the rows `places` of kv, which are [keys, values], each heads *
// width; at least one place. out [heads * width].
void attend_listed(HeadShape shape, const float* q, const float* kv,
                   std::span<const std::int32_t> places, float* out, std::vector<float>& scratch);

// Keys and values of a source sentence, laid out once for all steps: for each head its keys in
// panels of 16 keys, then its values in panels of 16 columns.
std::int64_t source_floats(HeadShape shape, std::int64_t keys);
// kv rows are [keys, values]. panels: source_floats() of them, all zero.
void pack_source(HeadShape shape, const float* kv, std::int64_t keys, float* panels);
// q and out [rows, heads * width]: the hypotheses of that sentence.
void attend_source(HeadShape shape, const float* q, std::int64_t rows, const float* panels,
                   std::int64_t keys, float* out, std::vector<float>& scratch);

}  // namespace tandem::cpu
