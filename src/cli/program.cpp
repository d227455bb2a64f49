#include "cli/program.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "cli/cut_files.h"

namespace tandem {
namespace {

// Messages repeat what users and files hold. Some have several lines.
std::string shown(std::string_view message) {
  std::string text;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    text += (begin > 0 ? "\n" : "") + without_controls(message.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

int fail(ExitCode code, std::string_view message) {
  const std::string line = format("tandem: {}\n", shown(message));
  std::fputs(line.c_str(), stderr);
  return static_cast<int>(code);
}

ExitCode run(int argc, char** argv, void (*add_verbs)(CommandLine& line)) {
  CommandLine line(
      "Trains translation models on the machines you have, and says whether it was worth it.",
      TANDEM_VERSION);
  add_verbs(line);
  const ExitCode code = line.run(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw EnvError("cannot write to standard output: it is closed or its disk is full");
  }
  return code;
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
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(ExitCode::environment, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::environment, "out of memory");
  } catch (const std::exception& error) {
    return fail(ExitCode::internal,
                format("a mistake of tandem itself, please report it: {}", error.what()));
  }
}

}  // namespace tandem
