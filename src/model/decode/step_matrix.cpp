#include "model/decode/step_matrix.h"

namespace tandem {
namespace {

std::variant<cpu::Panels, cpu::BytePanels> panels_of_format(const float* weight, std::int64_t out,
                                                            std::int64_t in, StepFormat format) {
  if (format == StepFormat::int8 && in <= cpu::BytePanels::kMostDepth) {
    return cpu::BytePanels::of_turned(weight, in, out);
  }
  return cpu::Panels::of_turned(weight, in, out);
}

}  // namespace

StepMatrix::StepMatrix(const float* weight, std::int64_t out, std::int64_t in, StepFormat format)
    : out_(out), in_(in), panels_(panels_of_format(weight, out, in, format)) {}

void StepMatrix::prepare(const float* x, std::int64_t rows, StepInput& input) const {
  input.floats = x;
  if (const auto* bytes = std::get_if<cpu::BytePanels>(&panels_)) {
    bytes->round(x, rows, input.rounded);
  }
}

void StepMatrix::times(const StepInput& x, std::int64_t rows, const float* bias, float* y) const {
  if (const auto* bytes = std::get_if<cpu::BytePanels>(&panels_)) {
    bytes->times(x.rounded, 0, rows, 0, out_, bias, y, out_);
  } else {
    std::get<cpu::Panels>(panels_).times(x.floats, rows, bias, y);
  }
}

void StepMatrix::times_columns(const StepInput& x, std::int64_t begin, std::int64_t rows,
                               std::int64_t first, std::int64_t last, float* y,
                               std::int64_t stride) const {
  if (const auto* bytes = std::get_if<cpu::BytePanels>(&panels_)) {
    bytes->times(x.rounded, begin, rows, first, last, nullptr, y, stride);
  } else {
    std::get<cpu::Panels>(panels_).times_columns(x.floats + begin * in_, rows, first, last, y,
                                                 stride);
  }
}

}  // namespace tandem
