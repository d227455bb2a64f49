#include "cluster/preflight_links.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "cluster/link_text.h"
#include "config/choice.h"

namespace tandem {
namespace {

constexpr double kIsTheLimit = 1.10;     // of the step that a better wire would give
constexpr double kFarBelow = 0.7;        // of what the interface says
constexpr std::int64_t kSlowMbps = 100;  // nobody buys such a link for training
constexpr double kClocksDiffer = 1.0;    // seconds

// "steps will take 31 s instead of 1.7 s; ask for 1 Gbps full duplex"
struct Consequence {
  bool matters = false;
  std::string text;
};

Consequence consequence_of(const PredictInput& input, const Prediction& forecast) {
  PredictInput better = input;
  const double wire = better_wire(input.link.bytes_per_second);
  better.link.bytes_per_second = tcp_goodput(wire);
  const double step = predict(forecast.scheme, better).step_seconds;
  if (forecast.scheme == Scheme::one_host || forecast.step_seconds < kIsTheLimit * step) {
    return {false, "this model does not suffer from it"};
  }
  return {true, format("steps will take {} instead of {}; ask for {} full duplex",
                       step_text(forecast.step_seconds), step_text(step), rate_text(wire / 8))};
}

bool is_real(const NicFacts& nic) {
  return nic.kind == NicKind::wired && nic.speed_mbps.has_value();
}

double nominal_goodput(const NicFacts& nic) {
  return tcp_goodput(static_cast<double>(*nic.speed_mbps) * 1e6);
}

// Interfaces that say themselves what is wrong. True when one did.
bool warn_about_interfaces(const std::vector<HostFacts>& hosts, const Consequence& so,
                           std::vector<std::string>& out) {
  bool found = false;
  for (const HostFacts& host : hosts) {
    if (!host.nic || host.nic->kind == NicKind::virtual_wire) continue;
    const bool slow = host.nic->speed_mbps && *host.nic->speed_mbps <= kSlowMbps;
    const bool half = host.nic->duplex == Duplex::half;
    if (!slow && !half) continue;
    const double speed = static_cast<double>(host.nic->speed_mbps.value_or(0)) * 1e6 / 8;
    out.push_back(format("{} on {} runs at {}{}: {}", host.nic->name, host.host,
                         speed > 0 ? rate_text(speed) : "an unknown speed",
                         half ? " half duplex" : "", so.text));
    found = true;
  }
  return found;
}

// True when it said something about the link's speed.
bool warn_about_link(const LinkRow& row, const std::vector<HostFacts>& hosts, const Consequence& so,
                     std::vector<std::string>& out) {
  const std::string between =
      format("the link between {} and {}", row.opening_host, row.answering_host);
  if (shares_directions(row.link)) {
    out.push_back(
        format("{} carries {} and {} at once, but {} alone (half duplex, a hub or Wi-Fi): {}",
               between, rate_text(row.link.there_both), rate_text(row.link.back_both),
               rate_text(std::max(row.link.there_alone, row.link.back_alone)), so.text));
    return true;
  }
  if (is_lopsided(row.link)) {
    const bool there = row.link.there_alone < row.link.back_alone;
    out.push_back(format("{} is slow in one direction: {} from {}, but {} back; {}", between,
                         rate_text(there ? row.link.there_alone : row.link.back_alone),
                         there ? row.opening_host : row.answering_host,
                         rate_text(there ? row.link.back_alone : row.link.there_alone), so.text));
    return true;
  }
  for (const int end : {row.pair.opening, row.pair.answering}) {
    const HostFacts& host = hosts.at(static_cast<std::size_t>(end));
    if (!host.nic || !is_real(*host.nic)) continue;
    if (goodput_of(row.link) >= kFarBelow * nominal_goodput(*host.nic)) continue;
    out.push_back(
        format("{} carries {}, although {} on {} says {}: something slower lies between; {}",
               between, rate_text(goodput_of(row.link)), host.nic->name, host.host,
               rate_text(static_cast<double>(*host.nic->speed_mbps) * 1e6 / 8), so.text));
    return true;
  }
  return false;
}

void warn_about_clocks(const LinkTable& links, std::vector<std::string>& out) {
  for (const LinkRow& row : links) {
    const double ahead = row.link.clock_ahead_seconds;
    if (std::abs(ahead) < kClocksDiffer) continue;
    out.push_back(format(
        "the clock of {} is {:.1f} s {} that of {}: times in logs will not match; "
        "let both follow a time server",
        row.answering_host, std::abs(ahead), ahead > 0 ? "ahead of" : "behind", row.opening_host));
  }
}

const LinkRow& slowest(const LinkTable& links) {
  return *std::ranges::min_element(links, {},
                                   [](const LinkRow& row) { return goodput_of(row.link); });
}

}  // namespace

double better_wire(double bytes_per_second) {
  for (const double wire : {1e9, 1e10}) {
    if (bytes_per_second < kFarBelow * tcp_goodput(wire)) return wire;
  }
  return 1e11;
}

std::vector<std::string> link_warnings(const std::vector<HostFacts>& hosts, const LinkTable& links,
                                       const PredictInput& input, const Prediction& forecast) {
  std::vector<std::string> out;
  if (links.empty()) return out;
  const Consequence so = consequence_of(input, forecast);
  bool explained = warn_about_interfaces(hosts, so, out);
  if (!explained) {
    for (const LinkRow& row : links) explained = warn_about_link(row, hosts, so, out) || explained;
  }
  if (!explained && so.matters) {
    const LinkRow& row = slowest(links);
    out.push_back(format("the link between {} and {} is the limit: it carries {}, so {}",
                         row.opening_host, row.answering_host, rate_text(goodput_of(row.link)),
                         so.text));
  }
  if (forecast.scheme != Scheme::one_host && forecast.speed_up < 1) {
    out.push_back(format("{} hosts will be slower than one ({:.2f} times its speed): use one host",
                         hosts.size(), forecast.speed_up));
  }
  warn_about_clocks(links, out);
  return out;
}

}  // namespace tandem
