// link_probe: measures the link under a connected TCP socket. Two processes call it on the two ends
// with opposite roles and equal timing; both get the same result. It takes about
// timing.total_seconds(), and never more than the time limit: then an EnvError names the peer.
//
// In turn: round trips; both directions at once; the answering side alone; the opening side alone.
#pragma once

#include <string>

#include "cluster/link_probe_analysis.h"

namespace tandem {

struct ProbeTiming {
  int pings = 50;
  double ping_seconds = 0.1;  // at most
  double both_seconds = 0.7;
  double alone_seconds = 0.3;  // each direction
  double skip_seconds = 0.2;   // TCP finds its speed; the connection is warm when it sends alone
  double window_seconds = 0.025;
  double limit_seconds = 10.0;

  double total_seconds() const { return ping_seconds + both_seconds + 2 * alone_seconds; }
  // The same in another time.
  ProbeTiming scaled_to(double seconds) const;
};

enum class ProbeSide { opening, answering };

// socket: connected, of this probe alone. peer: how an error names the other end.
LinkMeasure probe_link(int socket, ProbeSide side, const ProbeTiming& timing,
                       const std::string& peer);

}  // namespace tandem
