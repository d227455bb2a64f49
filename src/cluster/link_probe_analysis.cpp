#include "cluster/link_probe_analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tandem {
namespace {

// A full-duplex link gives about 1, half duplex about 0.5; collisions make it less.
constexpr double kSharedBelow = 0.7;
constexpr double kLopsidedBelow = 2.0 / 3.0;

}  // namespace

void ArrivalWindows::add(double at, std::int64_t bytes) {
  const auto window = static_cast<std::size_t>(std::max(0.0, at) / window_seconds_);
  if (bytes_.size() <= window) bytes_.resize(window + 1);
  bytes_[window] += bytes;
}

double ArrivalWindows::bytes_per_second(double skip_seconds) const {
  const auto first = static_cast<std::size_t>(std::ceil(skip_seconds / window_seconds_));
  const auto whole = static_cast<std::size_t>(end_ / window_seconds_);  // the last one is cut off
  std::vector<double> kept;
  for (std::size_t i = first; i < whole; ++i) {
    kept.push_back(i < bytes_.size() ? static_cast<double>(bytes_[i]) : 0.0);
  }
  const auto mean_without = [&](std::size_t each_side) {
    const std::span<const double> middle(kept.data() + each_side, kept.size() - 2 * each_side);
    return std::reduce(middle.begin(), middle.end()) /
           (static_cast<double>(middle.size()) * window_seconds_);
  };
  std::ranges::sort(kept);
  if (!kept.empty()) {
    const bool mostly_empty = median_of(kept) == 0;
    const double mean = mean_without(mostly_empty ? 0 : kept.size() / 4);
    if (mean > 0) return mean;
  }
  const auto all = static_cast<double>(std::reduce(bytes_.begin(), bytes_.end()));
  return end_ > 0 ? all / end_ : 0;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double goodput_of(const LinkMeasure& link) {
  return std::min(link.there_both, link.back_both);
}

bool shares_directions(const LinkMeasure& link) {
  const double both = link.there_both + link.back_both, alone = link.there_alone + link.back_alone;
  // On a lopsided link the fast direction's acknowledgements wait behind the slow one's data.
  return !is_lopsided(link) && both < kSharedBelow * alone;
}

bool is_lopsided(const LinkMeasure& link) {
  return std::min(link.there_alone, link.back_alone) <
         kLopsidedBelow * std::max(link.there_alone, link.back_alone);
}

double clock_ahead(double sent_at, double other_read, double round_trip) {
  return other_read - (sent_at + round_trip / 2);
}

Json link_json(const LinkMeasure& link) {
  return Json::object()
      .set("rtt_min_s", link.rtt_min_seconds)
      .set("rtt_median_s", link.rtt_median_seconds)
      .set("there_both", link.there_both)
      .set("back_both", link.back_both)
      .set("there_alone", link.there_alone)
      .set("back_alone", link.back_alone)
      .set("clock_ahead_s", link.clock_ahead_seconds)
      .set("retransmits", link.retransmits);
}

LinkMeasure link_from_json(const Json& json) {
  LinkMeasure link;
  link.rtt_min_seconds = json.at("rtt_min_s").as_double();
  link.rtt_median_seconds = json.at("rtt_median_s").as_double();
  link.there_both = json.at("there_both").as_double();
  link.back_both = json.at("back_both").as_double();
  link.there_alone = json.at("there_alone").as_double();
  link.back_alone = json.at("back_alone").as_double();
  link.clock_ahead_seconds = json.at("clock_ahead_s").as_double();
  link.retransmits = json.at("retransmits").as_int();
  return link;
}

}  // namespace tandem
