// product_choice: which matrix products this program computes itself, because LibTorch's library is
// slower at them. A function of the processor and the shape alone, never of a measurement: the same
// run on the same machine must give the same bits.
#pragma once

#include <cstdint>

namespace tandem::cpu {

bool has_wide_registers();  // AVX-512

// [rows, depth] times a matrix [depth, columns] (cpu_product). With AVX2 alone: matrices with a
// side of at most 256. With AVX-512: those, and on processors of AMD, whose registers the library
// does not use fully, all.
bool has_quick_product(std::int64_t depth, std::int64_t columns);

// The transpose of [depth, rows] times [depth, columns] (cpu_turned_product): AVX-512 alone.
bool has_quick_turned_product(std::int64_t rows, std::int64_t columns);

}  // namespace tandem::cpu
