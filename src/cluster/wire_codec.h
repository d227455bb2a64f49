// wire_codec: loops over floats that travel: sums, and bf16 (the upper half of a float, rounded to
// nearest even). One thread each: they run beside the threads that compute.
#pragma once

#include <cstdint>
#include <span>

namespace tandem {

void encode_bf16(std::span<const float> from, std::span<std::uint16_t> to);
void decode_bf16(std::span<const std::uint16_t> from, std::span<float> to);

void add_bf16(std::span<const std::uint16_t> from, std::span<float> to);  // to += from

void add_floats(std::span<const float> from, std::span<float> to);  // to += from
// to = from - less
void subtract_floats(std::span<const float> from, std::span<const float> less, std::span<float> to);
// Every part becomes the sum of all, added from the first to the last.
void sum_into_all(std::span<float* const> parts, std::size_t size);
// The same sum, to the bit, for one of the parts only.
void sum_into_one(std::span<float* const> parts, std::size_t size, std::size_t one);

}  // namespace tandem
