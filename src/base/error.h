// error: the three kinds of failure, one exit code each. Only cli/program.cpp catches them.
// A message is one sentence: what, where (file:line or key), what to do.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem {

enum class ExitCode : int {
  ok = 0,
  user = 2,          // the user's mistake: settings, files, arguments
  environment = 3,   // the environment's failure: disk, network, memory
  internal = 70,     // our own mistake
  interrupted = 75,  // stopped by a signal, nothing half-written
  gave_up = 93,      // restarts without progress: trying again by itself does not help
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

struct UserError final : Error {
  explicit UserError(const std::string& message) : Error(ExitCode::user, message) {}
};
struct EnvError final : Error {
  explicit EnvError(const std::string& message) : Error(ExitCode::environment, message) {}
};
struct Interrupted final : Error {
  explicit Interrupted(const std::string& message) : Error(ExitCode::interrupted, message) {}
};
struct InternalError final : Error {
  explicit InternalError(const std::string& message) : Error(ExitCode::internal, message) {}
};

// For our own mistakes only; never for input.
void check(bool ok, std::string_view what,
           std::source_location at = std::source_location::current());

// The system's word for an errno, e.g. "No space left on device".
std::string errno_text(int error_number);

}  // namespace tandem
