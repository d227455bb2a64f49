// block_codec: floats as small whole numbers with one scale a block, for slow links. What a number
// loses by it is handed back, to be added to the next one sent in its place (error feedback): sent
// and kept together are what there was.
//
// int8: blocks of 256 numbers, 1.008 bytes each; int4: blocks of 128, 0.516 bytes each. Scales are
// bf16, so no gradient is too large or too small for them. Zero stays zero. A block that holds
// something that is not finite arrives as NaN.
#pragma once

#include <cstdint>
#include <span>

namespace tandem {

enum class BlockCode { int8, int4 };

std::int64_t coded_bytes(BlockCode code, std::int64_t numbers);

// Sends values + kept; rest: what the message does not carry. rest may be kept itself; either may
// be empty: nothing was kept, nobody wants the rest. message: coded_bytes() long.
void encode_blocks(BlockCode code, std::span<const float> values, std::span<const float> kept,
                   std::span<float> rest, std::span<std::uint8_t> message);
void decode_blocks(BlockCode code, std::span<const std::uint8_t> message, std::span<float> to);
// to += decoded
void add_blocks(BlockCode code, std::span<const std::uint8_t> message, std::span<float> to);

}  // namespace tandem
