// meeting_place: where rank 0 listens, and where the others look for it, by launcher:
//   PMIx                     any port of every usable address of rank 0's host; PMIx tells
//   --workers N              a socket that the parent opened on loopback
//   all workers on one host  loopback, any port or the one that is given: where no address is, and
//                            whatever address is when the token is guessable (no TANDEM_TOKEN)
//   MASTER_ADDR, srun        the given address and port; with torchrun and srun without PMIx the
//                            first free one of kSharedPorts, as the given one may be taken. A name
//                            that is loopback on rank 0's host: there, for workers of that host,
//                            and every usable address, until the others have come
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/interfaces.h"
#include "cluster/job_token.h"
#include "cluster/launch.h"
#include "cluster/pmix.h"
#include "cluster/tcp.h"

namespace tandem {

struct MeetingPlace {
  JobToken token;
  std::vector<ListeningSocket> sockets;  // rank 0 only
  std::vector<Endpoint> endpoints;       // where to call; several when it is to be tried out
};

// Rank 0. pmix may be null where info.pmix is not set.
MeetingPlace open_place(const LaunchInfo& info, const std::vector<NetworkInterface>& candidates,
                        const std::vector<NetworkInterface>& all, const std::string& host,
                        PmixClient* pmix);

// The others. Waits for PMIx; does not call anybody.
MeetingPlace find_place(const LaunchInfo& info, PmixClient* pmix, std::chrono::seconds timeout);

}  // namespace tandem
