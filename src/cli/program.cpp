#include "cli/program.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/utf8.h"
#include "cli/cut_files.h"

namespace tandem {
namespace {

int fail(ExitCode code, std::string_view message) {
  const std::string line = format("tandem: {}\n", lines_without_controls(message));
  std::fputs(line.c_str(), stderr);
  return static_cast<int>(code);
}

// What the standard library says about a path, in our own words.
[[noreturn]] void throw_translated(const fs::filesystem_error& error) {
  const int number = error.code().value();
  if (number == ENOENT) {  // named by the user, or a part of something that the user named
    throw UserError(format("cannot read {}: {}", error.path1().string(), errno_text(number)));
  }
  throw_cannot("use", error.path1(), number);
}

ExitCode run(int argc, char** argv, void (*add_verbs)(CommandLine& line)) try {
  CommandLine line(
      "Trains translation models on the machines you have, and says whether it was worth it.",
      TANDEM_VERSION);
  add_verbs(line);
  const ExitCode code = line.run(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw EnvError("cannot write to standard output: it is closed or its disk is full");
  }
  return code;
} catch (const fs::filesystem_error& error) {
  throw_translated(error);
} catch (const std::system_error& error) {
  if (error.code() != std::errc::resource_unavailable_try_again) throw;
  throw EnvError(  // of a thread that cannot start
      format("cannot start a thread: {}; raise the limit of processes and threads (ulimit -u, or "
             "the container's), or use fewer threads",
             errno_text(error.code().value())));
}

}  // namespace

int run_program(int argc, char** argv, void (*add_verbs)(CommandLine& line)) {
  // Whatever is written may hold somebody's text: it is for its owner alone, who may share it.
  ::umask(::umask(0) | S_IRWXG | S_IRWXO);
  name_cut_files();
  try {
    return static_cast<int>(run(argc, argv, add_verbs));
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::environment, "out of memory");
  } catch (const std::exception& error) {
    return fail(ExitCode::internal,
                format("a mistake of tandem itself, please report it: {}", error.what()));
  }
}

}  // namespace tandem
