// statistics: the few that the verdicts need. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

double mean(std::span<const double> values);  // 0 of nothing
double median(std::vector<double> values);    // 0 of nothing
double quantile(std::vector<double> values, double share);

// The noise of a smooth curve, from how far each point lies off its neighbours' middle: neither a
// trend nor a slow bend counts as noise. Needs three points, else 0.
double noise_of_curve(std::span<const double> values);

// Pearson's; 0 where one side does not vary.
double correlation(std::span<const double> x, std::span<const double> y);

// Where a falling curve will be: a mean over curves that level off at different rates (exponentials
// and powers of x), each weighted by how well it fits.
struct Forecast {
  double gain = 0;       // how much lower at `until` than at the last x
  double deviation = 0;  // of that
};
// x ascending and positive, at least four points.
Forecast forecast_gain(std::span<const double> x, std::span<const double> y, double until);

// The chance that a normal value of this mean and deviation is above the limit.
double chance_above(double limit, double mean, double deviation);

}  // namespace tandem
