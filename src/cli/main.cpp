// The program: every verb, and the only place that catches.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "base/format.h"
#include "cli/args.h"
#include "cli/verbs.h"

namespace tandem {
namespace {

int fail(ExitCode code, std::string_view message) {
  const std::string line = format("tandem: {}\n", message);
  std::fputs(line.c_str(), stderr);
  return static_cast<int>(code);
}

ExitCode run(int argc, const char* const* argv) {
  CommandLine line(
      "Trains translation models on the machines you have, and says whether it was worth it.",
      TANDEM_VERSION);
  add_quickstart(line);
  add_get(line);
  add_prepare(line);
  add_inspect(line);
  add_config(line);
  add_check(line);
  add_plan(line);
  add_train(line);
  add_watch(line);
  add_report(line);
  add_export_log(line);
  add_average(line);
  add_translate(line);
  add_evaluate(line);
  add_score(line);
  add_encode(line);
  add_decode(line);
  add_doctor(line);
  const ExitCode code = line.run(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw EnvError("cannot write to standard output: it is closed or its disk is full");
  }
  return code;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  using namespace tandem;
  try {
    return static_cast<int>(run(argc, argv));
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
