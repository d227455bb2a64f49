// job_token: the secret that the workers of one job share; who does not know it is a stranger.
// 256 random bits where a launcher can carry them (PMIx, tandem train --workers). By hand, with
// torchrun and with srun without PMIx it is made from TANDEM_TOKEN and what tells this job from
// others; without TANDEM_TOKEN it is made from the latter alone, which keeps jobs apart but
// can be guessed: `guessable`, and refused between hosts. A TANDEM_TOKEN of a few characters is
// refused everywhere: trying them all takes no time.
#pragma once

#include <string>

#include "cluster/launch.h"

namespace tandem {

inline constexpr std::size_t kTokenBytes = 32;
inline constexpr std::size_t kShortestSecret = 16;  // characters of TANDEM_TOKEN, as `serve` has it

struct JobToken {
  std::string bytes;  // kTokenBytes of them
  bool guessable = false;
};

JobToken random_token();

// For launchers that carry no token of ours. UserError: the secret is too short.
JobToken token_of(const LaunchInfo& info);

std::string random_bytes(std::size_t count);

// For a message of text.
std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view hex);  // empty when it is none

}  // namespace tandem
