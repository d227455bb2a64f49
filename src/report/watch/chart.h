// chart: a curve drawn with braille dots, two by four to a column and row. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tandem {

struct ChartCurve {
  std::vector<std::pair<double, double>>
      points;  // x ascending; values that are not finite are left out
};

// height rows of width columns, numbers of the y axis included; the first row is the highest.
std::vector<std::string> braille_chart(const ChartCurve& curve, int width, int height);

}  // namespace tandem
