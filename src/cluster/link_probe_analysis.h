// link_probe_analysis: what the raw readings of a link probe say about the link. Pure.
// Goodput is counted by the receiver: a sender's buffers take more than the link carries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"

namespace tandem {

// Bytes that arrived, by windows of equal length from the start of a phase to its end.
class ArrivalWindows {
 public:
  explicit ArrivalWindows(double window_seconds) : window_seconds_(window_seconds) {}
  // at: seconds since the phase began, never going back.
  void add(double at, std::int64_t bytes);
  void end(double at) { end_ = at; }

  // Mean of the whole windows behind skip_seconds without the fullest and the emptiest quarter: a
  // stall of a busy machine, and what it lets arrive at once, do not count; a median would count
  // in whole packets, of which a window of a slow link has few. The mean of all where half of the
  // windows are empty.
  double bytes_per_second(double skip_seconds) const;

 private:
  double window_seconds_;
  double end_ = 0;
  std::vector<std::int64_t> bytes_;
};

// One link, seen from the host that opened it: "there" is from that host to the other one.
struct LinkMeasure {
  double rtt_min_seconds = 0, rtt_median_seconds = 0;
  double there_both = 0, back_both = 0;    // bytes a second, both directions at once
  double there_alone = 0, back_alone = 0;  // one direction after the other
  double clock_ahead_seconds = 0;          // by how much the other host's clock is ahead
  std::int64_t retransmits = 0;
};

double median_of(std::vector<double> values);  // 0 of none

// What an exchange can count on: both hosts send at once.
double goodput_of(const LinkMeasure& link);

// Both directions at once carry about half of what they carry alone: half duplex, a hub, or Wi-Fi.
bool shares_directions(const LinkMeasure& link);
// Alone, one direction carries less than two thirds of the other.
bool is_lopsided(const LinkMeasure& link);

// How far the other clock is ahead, from one ping: its reading lies in the middle of the round
// trip, up to half of it.
double clock_ahead(double sent_at, double other_read, double round_trip);

Json link_json(const LinkMeasure& link);
LinkMeasure link_from_json(const Json& json);

}  // namespace tandem
