#include "config/load.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/utf8.h"
#include "config/suggest_key.h"
#include "config/validate.h"
#include "config/yaml_reader.h"

namespace tandem {
namespace {

constexpr std::size_t kLargestFile = 256 << 10;  // a dump of every setting has 10 KB

// Reads no more than the limit, whatever the file is (/dev/zero, a pipe).
std::string read_small_file(const fs::path& path) {
  const FileDescriptor fd = open_for_reading(path);
  std::string contents(kLargestFile + 1, '\0');
  std::size_t size = 0;
  while (size < contents.size()) {
    const ssize_t n = ::read(fd.get(), contents.data() + size, contents.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw EnvError(format("cannot read {}: {}", path.string(), errno_text(errno)));
    }
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  if (size > kLargestFile) {
    throw UserError(format("{} is larger than {} KB; that is no settings file", path.string(),
                           kLargestFile >> 10));
  }
  contents.resize(size);
  return contents;
}

Assignments read_source(const fs::path& file) {
  try {
    return read_yaml(read_small_file(file), file.string());
  } catch (const UserError& error) {  // a file that cannot be read is one problem among others
    return {{}, {{{}, error.what(), {}}}};
  }
}

Assignments read_overrides(std::span<const std::string> overrides) {
  const std::string place = "command line";
  Assignments result;
  for (const std::string& argument : overrides) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      result.problems.push_back({{}, in_quotes(argument) + " is not of the form key=value", place});
      continue;
    }
    std::optional<std::string> text = argument.substr(equals + 1);
    if (text == "null" || text == "~") text.reset();
    result.items.push_back({argument.substr(0, equals), std::move(text), place});
  }
  return result;
}

// The value of an option that a source gave, and which source that was.
struct Given {
  Value value;
  std::string place;
  std::size_t source = 0;
};
using GivenByKey = std::map<std::string, Given>;

class Resolver {
 public:
  Resolver() : options_(options_of(result_.config)) {
    for (const Option& option : options_) {
      keys_.push_back(option.key);
      by_key_[option.key] = &option;
      const std::size_t dot = option.key.find('.');
      if (dot != std::string::npos) sections_.insert(option.key.substr(0, dot));
    }
  }

  Resolved run(std::span<const Assignments> sources) && {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      std::ranges::copy(sources[i].problems, std::back_inserter(result_.problems));
      for (const Assignment& assignment : sources[i].items) take(assignment, i);
    }
    apply();
    check_together();
    return std::move(result_);
  }

 private:
  void report(const Assignment& assignment, std::string message) {
    result_.problems.push_back({{assignment.key}, std::move(message), assignment.place});
  }

  void take(const Assignment& assignment, std::size_t source) {
    const auto found = by_key_.find(assignment.key);
    if (found == by_key_.end()) {
      take_unknown(assignment);
      return;
    }
    const Option& option = *found->second;
    if (!assignment.text) {
      if (option.may_be_unset) {
        given_[option.key] = {Value{}, assignment.place, source};
      } else {
        report(assignment, option.key + " " + range_problem(option, Value{}));
      }
      return;
    }
    Parsed parsed = parse_value(option, *assignment.text);
    if (parsed.value) {
      given_[option.key] = {std::move(*parsed.value), assignment.place, source};
    } else {
      report(assignment, option.key + " " + parsed.problem);
    }
  }

  void take_unknown(const Assignment& assignment) {
    if (sections_.contains(assignment.key)) {
      if (!assignment.text) return;  // "optim:" with nothing below it
      const auto example = std::ranges::find_if(
          keys_, [&](auto& key) { return key.starts_with(assignment.key + "."); });
      report(assignment, format("{} is a section, not a value; set its keys, such as {}",
                                assignment.key, *example));
      return;
    }
    // Beyond the problems that are shown there is no need to look for what was meant.
    const std::string meant = result_.problems.size() < kMostProblems
                                  ? suggest_key(assignment.key, keys_)
                                  : std::string();
    report(assignment, format("unknown key {}{}", in_quotes(assignment.key),
                              meant.empty() ? "; tandem config --defaults lists them all"
                                            : format(" (did you mean \"{}\"?)", meant)));
  }

  void apply() {
    settle_alternatives("batch.tokens", "batch.sentences_per_worker");
    if (const auto preset = given_.find("model.preset"); preset != given_.end()) {
      by_key_.at("model.preset")->set(preset->second.value);
      apply_preset(result_.config.model.preset, result_.config.model);
    }
    for (const auto& [key, given] : given_) by_key_.at(key)->set(given.value);
  }

  // Two ways to say one thing: the one in the later source holds and unsets the other, default
  // included. Both in one source stay, and validate() objects.
  void settle_alternatives(const std::string& a, const std::string& b) {
    const auto source_of = [&](const std::string& key) {
      const auto found = given_.find(key);
      const bool is_set =
          found != given_.end() && !std::holds_alternative<std::monostate>(found->second.value);
      return is_set ? static_cast<std::ptrdiff_t>(found->second.source) : -1;
    };
    const auto source_a = source_of(a), source_b = source_of(b);
    if (source_a > source_b) given_[b].value = Value{};
    if (source_b > source_a) given_[a].value = Value{};
  }

  void check_together() {
    std::set<std::string> wrong;  // these keep their default: what they do with others says nothing
    for (const Problem& problem : result_.problems) {
      wrong.insert(problem.keys.begin(), problem.keys.end());
    }
    for (Problem& problem : validate(result_.config)) {
      if (std::ranges::any_of(problem.keys, [&](auto& key) { return wrong.contains(key); })) {
        continue;
      }
      problem.place = place_of(problem.keys);
      result_.problems.push_back(std::move(problem));
    }
  }

  // Where the options were given, the latest first; a default has no place.
  std::string place_of(const std::vector<std::string>& keys) const {
    std::vector<const Given*> places;
    for (const std::string& key : keys) {
      const auto found = given_.find(key);
      if (found != given_.end() && !found->second.place.empty()) places.push_back(&found->second);
    }
    std::ranges::stable_sort(places, std::ranges::greater{}, &Given::source);
    std::vector<std::string> texts;
    for (const Given* given : places) {
      if (std::ranges::find(texts, given->place) == texts.end()) texts.push_back(given->place);
    }
    return texts.empty() ? "defaults" : format("{}", join(texts, ", "));
  }

  Resolved result_;
  std::vector<Option> options_;
  std::vector<std::string> keys_;
  std::map<std::string, const Option*> by_key_;
  std::set<std::string> sections_;
  GivenByKey given_;
};

}  // namespace

Resolved resolve(std::span<const Assignments> sources) {
  return Resolver().run(sources);
}

RunConfig load_config(std::span<const fs::path> files, std::span<const std::string> overrides) {
  std::vector<Assignments> sources;
  for (const fs::path& file : files) sources.push_back(read_source(file));
  sources.push_back(read_overrides(overrides));
  Resolved resolved = resolve(sources);
  if (!resolved.problems.empty()) throw UserError(problems_text(resolved.problems));
  return resolved.config;
}

SettingsArguments split_settings(std::span<const std::string> arguments) {
  SettingsArguments result;
  for (const std::string& argument : arguments) {
    const std::size_t special = argument.find_first_of("=/");
    if (special != std::string::npos && argument[special] == '=') {
      result.overrides.push_back(argument);
    } else {
      result.files.emplace_back(argument);
    }
  }
  return result;
}

}  // namespace tandem
