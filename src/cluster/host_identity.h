// host_identity: what makes two workers workers of one host. The name alone does not: containers
// often have the same one. Workers share a host when they share the name, the running kernel and
// the network; a container with a network of its own counts as a host of its own.
#pragma once

#include <string>

namespace tandem {

struct HostIdentity {
  std::string name;  // for people
  std::string key;   // equal on workers of one host only
};

HostIdentity this_host();

}  // namespace tandem
