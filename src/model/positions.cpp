#include "model/positions.h"

#include <cmath>

#include "base/format.h"

namespace tandem {
namespace {

constexpr std::int64_t kMostNumbers = 1 << 26;  // 256 MB; a model's file does not hold the table

}  // namespace

Tensor sinusoidal_positions(std::int64_t count, std::int64_t width) {
  if (count > kMostNumbers / width) {
    throw UserError(
        format("model.max_positions={} with model.d_model={} would be a table of over {} numbers; "
               "lower model.max_positions",
               count, width, kMostNumbers));
  }
  Tensor table = at::empty({count, width}, at::kFloat);
  auto cells = table.accessor<float, 2>();
  const std::int64_t sines = (width + 1) / 2;
  for (std::int64_t position = 0; position < count; ++position) {
    for (std::int64_t column = 0; column < width; ++column) {
      const bool sine = column < sines;
      const auto i = static_cast<double>(sine ? column : column - sines);
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * i / static_cast<double>(width));
      cells[position][column] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}  // namespace tandem
