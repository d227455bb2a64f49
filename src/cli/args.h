// args: the command line as the verbs see it. CLI11 stays behind it, in args.cpp.
//
//   Verb& verb = line.verb("score", "BLEU and chrF of a text against its reference");
//   verb.positional("HYP", options->hyp, "the text to score, one sentence a line");
//   verb.option("--threads", options->threads, "threads to use");
//   verb.flag("--json", options->json, "print one JSON object");
//   verb.run([options] { ...; return ExitCode::ok; });
//
// A default that the variable holds when it is declared is shown by --help.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem {

class Verb {
 public:
  // An argument without dashes. Optional ones keep the variable as it is.
  void positional(const std::string& name, std::string& value, const std::string& sentence,
                  bool required = true);
  void positional(const std::string& name, std::vector<std::string>& values,
                  const std::string& sentence, bool required = true);

  void option(const std::string& name, std::string& value, const std::string& sentence,
              bool required = false);
  void option(const std::string& name, std::int64_t& value, const std::string& sentence,
              std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX);
  // The same, or the word "auto", which leaves it without a value.
  void option(const std::string& name, std::optional<std::int64_t>& value,
              const std::string& sentence, std::int64_t least, std::int64_t most);
  // Fractions are finite and within the bounds; an optional one without a value was not given.
  void option(const std::string& name, double& value, const std::string& sentence,
              double least = kLeastFraction, double most = kMostFraction);
  void option(const std::string& name, std::optional<double>& value, const std::string& sentence,
              double least = kLeastFraction, double most = kMostFraction);
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
              const std::string& sentence);
  void flag(const std::string& name, bool& value, const std::string& sentence);

  void run(std::function<ExitCode()> action);

  // In the action: whether the command line names this option.
  bool was_given(const std::string& option) const;

 private:
  static constexpr double kLeastFraction = std::numeric_limits<double>::lowest(),
                          kMostFraction = std::numeric_limits<double>::max();
  friend class CommandLine;
  struct Impl;
  explicit Verb(std::unique_ptr<Impl> impl);

 public:
  ~Verb();

 private:
  std::unique_ptr<Impl> impl_;
};

class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& version);
  ~CommandLine();
  Verb& verb(const std::string& name, const std::string& sentence);
  // Parses and runs the chosen verb. Wrong arguments are a UserError; --help and --version print
  // and succeed.
  ExitCode run(int argc, const char* const* argv);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
