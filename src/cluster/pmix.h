// pmix: short texts between the workers of one job through its launcher (mpirun, srun --mpi=pmix):
// how they learn rank 0's address and the job token. Only pmix.cpp includes the library.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace tandem {

class PmixClient {
 public:
  PmixClient();  // EnvError when the launcher's server does not answer
  ~PmixClient();
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  void publish(const std::string& key, const std::string& value);
  // Waits until that rank has published it; nothing: it did not in time.
  std::optional<std::string> fetch(int rank, const std::string& key, std::chrono::seconds timeout);
  // The launcher's name for the host of a rank; empty when it does not say.
  std::string host_of(int rank);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of the library: "4.2.2".
std::string pmix_version();

}  // namespace tandem
