#include "report/watch/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/format.h"
#include "report/watch/cells.h"

namespace tandem {
namespace {

constexpr int kAxis = 7;  // columns of the y axis' numbers

// Bits of a braille character for the dot at (column, row) of its cell.
constexpr std::uint8_t kDots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

std::string utf8_of_braille(std::uint8_t bits) {
  if (bits == 0) return " ";
  const unsigned code = 0x2800u + bits;
  return {static_cast<char>(0xe2), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
          static_cast<char>(0x80 | (code & 0x3f))};
}

struct Range {
  double low = 0, high = 1;
};

// Of the middle of the values: one wild step must not flatten all others.
Range range_of(const std::vector<std::pair<double, double>>& points) {
  std::vector<double> values;
  for (const auto& [x, y] : points) values.push_back(y);
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  Range r{values.size() > 50 ? at(0.002) : values.front(),
          values.size() > 50 ? at(0.998) : values.back()};
  if (r.high - r.low < 1e-9 * std::max(1.0, std::abs(r.high))) {
    r.low -= 0.5;
    r.high += 0.5;
  }
  return r;
}

class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}
  int dots_wide() const { return 2 * columns_; }
  int dots_high() const { return 4 * rows_; }
  void set(int x, int y) {  // y from the top
    if (x < 0 || y < 0 || x >= dots_wide() || y >= dots_high()) return;
    cells_[static_cast<std::size_t>(y / 4 * columns_ + x / 2)] |= kDots[x % 2][y % 4];
  }
  std::string row(int number) const {
    std::string out;
    for (int c = 0; c < columns_; ++c) {
      out += utf8_of_braille(cells_[static_cast<std::size_t>(number * columns_ + c)]);
    }
    return out;
  }

 private:
  int columns_, rows_;
  std::vector<std::uint8_t> cells_;
};

void draw(Canvas& canvas, const std::vector<std::pair<double, double>>& points, Range range) {
  const double first = points.front().first;
  const double span = std::max(1e-12, points.back().first - first);
  int last_x = -1, last_y = -1;
  for (const auto& [x, y] : points) {
    const int at_x = static_cast<int>(std::lround((x - first) / span * (canvas.dots_wide() - 1)));
    const double share = std::clamp((y - range.low) / (range.high - range.low), 0.0, 1.0);
    const int at_y = static_cast<int>(std::lround((1 - share) * (canvas.dots_high() - 1)));
    const int steps = last_x < 0 ? 0 : std::max(std::abs(at_x - last_x), std::abs(at_y - last_y));
    for (int i = 0; i < steps; ++i) {  // a line from the point before
      canvas.set(last_x + (at_x - last_x) * i / steps, last_y + (at_y - last_y) * i / steps);
    }
    canvas.set(at_x, at_y);
    last_x = at_x;
    last_y = at_y;
  }
}

// Means over as many groups as there are dots: a long run is not a cloud.
std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points,
                                               std::size_t most) {
  std::vector<std::pair<double, double>> finite, out;
  for (const auto& point : points) {
    if (std::isfinite(point.second)) finite.push_back(point);
  }
  const std::size_t length = std::max<std::size_t>(1, (finite.size() + most - 1) / most);
  for (std::size_t begin = 0; begin < finite.size(); begin += length) {
    const std::size_t end = std::min(finite.size(), begin + length);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += finite[i].second;
    out.emplace_back(finite[end - 1].first, sum / static_cast<double>(end - begin));
  }
  return out;
}

}  // namespace

std::vector<std::string> braille_chart(const ChartCurve& curve, int width, int height) {
  const int columns = std::max(4, width - kAxis);
  const auto points = thinned(curve.points, static_cast<std::size_t>(2 * columns));
  std::vector<std::string> rows;
  if (points.size() < 2) {
    for (int i = 0; i < height; ++i) {
      rows.push_back(padded(i == height / 2 ? "       nothing to draw yet" : "", width));
    }
    return rows;
  }
  const Range range = range_of(points);
  Canvas canvas(columns, height);
  draw(canvas, points, range);
  for (int i = 0; i < height; ++i) {
    std::string label;
    if (i == 0) label = format("{:.4g}", range.high);
    if (i == height - 1) label = format("{:.4g}", range.low);
    rows.push_back(format("{:>{}} {}", label, kAxis - 1, canvas.row(i)));
  }
  return rows;
}

}  // namespace tandem
