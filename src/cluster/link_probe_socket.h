// link_probe_socket: the connection that a link probe uses, between two workers that share secrets
// (through the Store, which only workers of the run can read). Whoever else connects is ignored.
#pragma once

#include <string>

#include "base/files.h"

namespace tandem {

// Two one-time words, 32 random bytes each as hex: the opening side shows the first, the answering
// side the second.
struct ProbeSecrets {
  std::string opening, answering;
};
ProbeSecrets new_probe_secrets();

class ProbeListener {
 public:
  // On this address only (of the interface that training uses), at a port the system chooses.
  explicit ProbeListener(const std::string& address);
  int port() const { return port_; }
  // The first connection that shows the secret; EnvError names the peer when the time is over.
  FileDescriptor accept(const ProbeSecrets& secrets, double limit_seconds,
                        const std::string& peer) const;

 private:
  FileDescriptor socket_;
  int port_ = 0;
};

// From own_address, so that the packets take the interface that training uses.
FileDescriptor connect_probe(const std::string& own_address, const std::string& address, int port,
                             const ProbeSecrets& secrets, double limit_seconds,
                             const std::string& peer);

}  // namespace tandem
