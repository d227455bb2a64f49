#include "cli/args.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/format.h"
#include "base/suggest.h"

namespace tandem {

struct Verb::Impl {
  CLI::App* app = nullptr;
  std::function<ExitCode()> action;
};

struct CommandLine::Impl {
  CLI::App app;
  std::map<std::string, std::unique_ptr<Verb>> verbs;
  std::vector<std::string> names;
};

namespace {

constexpr const char* kAuto = "auto";

// Says what is wrong with a whole number, or nothing.
std::string number_problem(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (!CLI::detail::lexical_cast(text, number)) return format("{} is not a whole number", text);
  if (number < least) return format("{} is below the least value {}", text, least);
  if (number > most) return format("{} is above the largest value {}", text, most);
  return {};
}

// Says what is wrong with a fraction, or nothing.
std::string fraction_problem(const std::string& text, double least, double most) {
  double number = 0;
  if (!CLI::detail::lexical_cast(text, number) || !std::isfinite(number)) {
    return format("{} is not a finite number", text);
  }
  if (number >= least && number <= most) return {};
  return format("{} is not from {} to {}", text, least, most);
}

auto within(double least, double most) {
  return [least, most](const std::string& text) { return fraction_problem(text, least, most); };
}

// The names of an app's options without their dashes.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

std::string unknown_option_text(const std::string& argument, const CLI::App& app) {
  const std::string option = argument.substr(0, argument.find('='));
  const auto dashes = std::min(option.find_first_not_of('-'), option.size());
  const std::string meant = nearest_name(option.substr(dashes), option_names(app));
  return format("there is no option \"{}\"{}", option,
                meant.empty() ? "" : format(" (did you mean \"--{}\"?)", meant));
}

// What an app could not place: its first unknown option, else its first argument too many.
std::string left_over_text(const CLI::App& app) {
  std::string extra;
  for (const std::string& argument : app.remaining()) {
    if (argument == "--") break;  // what follows is no option, whatever it looks like
    if (argument.starts_with("-")) return unknown_option_text(argument, app);
    if (extra.empty()) extra = format("\"{}\" was not expected", argument);
  }
  return extra;
}

// A mistyped option explains what is missing without it, so it is named before anything else.
std::string mistake_text(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = left_over_text(app);
  for (const CLI::App* verb : app.get_subcommands()) {
    if (text.empty()) text = left_over_text(*verb);
  }
  return text.empty() ? error.what() : text;
}

}  // namespace

Verb::Verb(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Verb::~Verb() = default;

void Verb::positional(const std::string& name, std::string& value, const std::string& sentence,
                      bool required) {
  impl_->app->add_option(name, value, sentence)->required(required);
}

void Verb::positional(const std::string& name, std::vector<std::string>& values,
                      const std::string& sentence, bool required) {
  impl_->app->add_option(name, values, sentence)->required(required);
}

void Verb::option(const std::string& name, std::string& value, const std::string& sentence,
                  bool required) {
  auto* option = impl_->app->add_option(name, value, sentence)->required(required);
  if (!value.empty()) option->capture_default_str();
}

void Verb::option(const std::string& name, std::int64_t& value, const std::string& sentence,
                  std::int64_t least, std::int64_t most) {
  impl_->app->add_option(name, value, sentence)
      ->capture_default_str()
      ->type_name("N")
      ->check([least, most](const std::string& text) { return number_problem(text, least, most); });
}

void Verb::option(const std::string& name, std::optional<std::int64_t>& value,
                  const std::string& sentence, std::int64_t least, std::int64_t most) {
  const auto take = [&value](const std::string& text) {
    value.reset();
    if (text != kAuto) value = std::stoll(text);
  };
  impl_->app->add_option_function<std::string>(name, take, sentence)
      ->default_str(value ? std::to_string(*value) : kAuto)
      ->type_name("N|auto")
      ->check([least, most](const std::string& text) {
        return text == kAuto ? std::string() : number_problem(text, least, most);
      });
}

void Verb::option(const std::string& name, double& value, const std::string& sentence, double least,
                  double most) {
  impl_->app->add_option(name, value, sentence)
      ->capture_default_str()
      ->type_name("X")
      ->check(within(least, most));
}

void Verb::option(const std::string& name, std::optional<double>& value,
                  const std::string& sentence, double least, double most) {
  impl_->app->add_option(name, value, sentence)->type_name("X")->check(within(least, most));
}

void Verb::choice(const std::string& name, std::string& value,
                  const std::vector<std::string>& allowed, const std::string& sentence) {
  impl_->app->add_option(name, value, sentence)
      ->capture_default_str()
      ->type_name(format("{}", join(allowed, "|")))
      ->check([allowed](const std::string& text) -> std::string {
        for (const auto& word : allowed) {
          if (word == text) return {};
        }
        return format("{} is none of {}", text, join(allowed, ", "));
      });
}

void Verb::flag(const std::string& name, bool& value, const std::string& sentence) {
  impl_->app->add_flag(name, value, sentence);
}

void Verb::run(std::function<ExitCode()> action) {
  impl_->action = std::move(action);
}

bool Verb::was_given(const std::string& option) const {
  return impl_->app->count(option) > 0;
}

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : impl_(std::make_unique<Impl>()) {
  CLI::App& app = impl_->app;
  app.description(description);
  app.name("tandem");
  app.set_version_flag("--version", "tandem " + version);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
}
CommandLine::~CommandLine() = default;

Verb& CommandLine::verb(const std::string& name, const std::string& sentence) {
  auto verb_impl = std::make_unique<Verb::Impl>();
  verb_impl->app = impl_->app.add_subcommand(name, sentence);
  impl_->names.push_back(name);
  auto& slot = impl_->verbs[name];
  slot.reset(new Verb(std::move(verb_impl)));
  return *slot;
}

ExitCode CommandLine::run(int argc, const char* const* argv) {
  CLI::App& app = impl_->app;
  if (argc < 2) {
    std::fputs(app.help().c_str(), stdout);
    return ExitCode::user;
  }
  const std::string first = argv[1];
  if (!first.starts_with("-") && !impl_->verbs.contains(first)) {
    const std::string meant = nearest_name(first, impl_->names);
    throw UserError(format("there is no command \"{}\"{}; tandem --help lists them all", first,
                           meant.empty() ? "" : format(" (did you mean \"{}\"?)", meant)));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    throw UserError(format("{}; tandem {}--help explains", mistake_text(error, app),
                           impl_->verbs.contains(first) ? first + " " : ""));
  }
  return impl_->verbs.at(app.get_subcommands().front()->get_name())->impl_->action();
}

}  // namespace tandem
