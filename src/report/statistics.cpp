#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tandem {
namespace {

// y = level + slope * shape, by least squares.
struct Fit {
  double slope = 0, slope_variance_factor = 0;  // times the noise's square
  double residual = 0;                          // sum of squares
};

Fit fit(std::span<const double> shape, std::span<const double> y) {
  const double shape_mean = mean(shape), y_mean = mean(y);
  double sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double dx = shape[i] - shape_mean, dy = y[i] - y_mean;
    sxx += dx * dx;
    sxy += dx * dy;
    syy += dy * dy;
  }
  if (sxx <= 0) return {0, 0, syy};
  return {sxy / sxx, 1 / sxx, std::max(0.0, syy - sxy * sxy / sxx)};
}

struct Candidate {
  double gain, gain_variance_factor, residual;
};

// The shapes: 0 at infinity, except the straight line and the logarithm, which never level off.
std::vector<Candidate> candidates(std::span<const double> x, std::span<const double> y,
                                  double until) {
  std::vector<Candidate> out;
  const double first = x.front(), span = x.back() - first;
  const auto consider = [&](auto shape) {
    std::vector<double> shaped;
    for (const double at : x) shaped.push_back(shape(at));
    const Fit f = fit(shaped, y);
    const double change = shape(x.back()) - shape(until);
    out.push_back({f.slope * change, change * change * f.slope_variance_factor, f.residual});
  };
  for (const double share : {0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.5, 5.0}) {
    consider([&](double at) { return std::exp(-(at - first) / (share * span)); });
  }
  for (const double power : {0.1, 0.3, 0.6, 1.0, 1.5, 2.5}) {
    consider([&](double at) { return std::pow(at / x.back(), -power); });
  }
  consider([&](double at) { return -std::log(at); });
  return out;
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
  return values[place];
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double noise_of_curve(std::span<const double> values) {
  if (values.size() < 3) return 0;
  std::vector<double> off;
  for (std::size_t i = 0; i + 2 < values.size(); ++i) {
    off.push_back(std::abs(values[i] - 2 * values[i + 1] + values[i + 2]) / std::sqrt(6.0));
  }
  return median(std::move(off)) / 0.6745;  // to a deviation, were the noise normal
}

double correlation(std::span<const double> x, std::span<const double> y) {
  const double x_mean = mean(x), y_mean = mean(y);
  double sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sxx += (x[i] - x_mean) * (x[i] - x_mean);
    syy += (y[i] - y_mean) * (y[i] - y_mean);
    sxy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  return sxx > 0 && syy > 0 ? sxy / std::sqrt(sxx * syy) : 0;
}

Forecast forecast_gain(std::span<const double> x, std::span<const double> y, double until) {
  const auto all = candidates(x, y, until);
  double least = all.front().residual;
  for (const Candidate& c : all) least = std::min(least, c.residual);
  const double points = static_cast<double>(y.size());
  const double scale = std::max(1e-12, std::abs(mean(y)));
  const double noise = least / std::max(1.0, points - 3) + 1e-8 * scale * scale;  // squared
  double weights = 0, gain = 0, square = 0;
  for (const Candidate& c : all) {
    const double weight = std::exp(-(c.residual - least) / (2 * noise));
    weights += weight;
    gain += weight * c.gain;
    square += weight * (c.gain * c.gain + c.gain_variance_factor * noise);
  }
  gain /= weights;
  return {gain, std::sqrt(std::max(0.0, square / weights - gain * gain))};
}

double chance_above(double limit, double mean, double deviation) {
  if (deviation <= 0) return mean > limit ? 1 : 0;
  return 0.5 * std::erfc((limit - mean) / (deviation * std::sqrt(2.0)));
}

}  // namespace tandem
