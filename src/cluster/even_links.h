// even_links: connections that share the link of the host they lead to. BBR, which some systems
// have for all connections, takes what it once measured alone for its own: several of them into one
// port of 50 Mbps lost a fifth of it (docs/results.md, scripts/bench plan); CUBIC lost nothing.
#pragma once

namespace tandem {

// Whether a connection is better off with CUBIC: now BBR, and on a local network. Over longer ways
// packets get lost for other reasons, which BBR is there for.
bool shares_badly(int connected_socket);

// Makes it so; false: left as it was.
bool share_evenly(int connected_socket);

}  // namespace tandem
