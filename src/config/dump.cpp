#include "config/dump.h"

#include "base/format.h"
#include "base/hash.h"

namespace tandem {
namespace {

struct Name {
  std::string section, leaf;  // section is empty at the top level
};
Name split(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? Name{"", key} : Name{key.substr(0, dot), key.substr(dot + 1)};
}

// Calls on_section(name) where a section starts, then on_option(option, leaf) for each option.
void walk(RunConfig& config, auto on_section, auto on_option) {
  std::string section;
  for (const Option& option : options_of(config)) {
    const Name name = split(option.key);
    if (name.section != section) on_section(name.section);
    section = name.section;
    on_option(option, name);
  }
}

Json json_value(const Value& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
          return Json();
        } else {
          return Json(v);
        }
      },
      value);
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return "flag";
    case Kind::integer:
      return "integer";
    case Kind::number:
      return "number";
    case Kind::text:
      return "text";
    case Kind::choice:
      break;
  }
  return "choice";
}

std::string unit_text(const Option& option) {
  return option.unit.empty() ? "" : format(" [{}]", option.unit);
}

}  // namespace

std::string dump_yaml(const RunConfig& config) {
  RunConfig copy = config;
  std::string out;
  walk(
      copy, [&](const std::string& section) { out += section + ":\n"; },
      [&](const Option& option, const Name& name) {
        const std::string setting = format("{}{}: {}", name.section.empty() ? "" : "  ", name.leaf,
                                           yaml_text(option, option.get()));
        out += format("{:<32} # {}{}\n", setting, option.sentence, unit_text(option));
      });
  return out;
}

Json dump_json(const RunConfig& config) {
  RunConfig copy = config;
  Json out = Json::object(), section = Json::object();
  std::string section_name;
  const auto close_section = [&] {
    if (!section_name.empty()) out.set(section_name, section);
    section = Json::object();
  };
  walk(
      copy,
      [&](const std::string& name) {
        close_section();
        section_name = name;
      },
      [&](const Option& option, const Name& name) {
        (name.section.empty() ? out : section).set(name.leaf, json_value(option.get()));
      });
  close_section();
  return out;
}

std::uint64_t fingerprint(const RunConfig& config) {
  RunConfig copy = config;
  std::string values;
  for (const Option& option : options_of(copy)) {
    values += format("{}: {}\n", option.key, yaml_text(option, option.get()));
  }
  return hash64(values);
}

std::string defaults_text() {
  RunConfig defaults;
  std::string out;
  walk(
      defaults, [&](const std::string&) { out += "\n"; },
      [&](const Option& option, const Name&) {
        const std::string setting = format("{} = {}", option.key, yaml_text(option, option.get()));
        out += format("{:<40} {}{}\n    {}\n", setting, allowed_text(option), unit_text(option),
                      option.sentence);
      });
  return out;
}

Json defaults_json() {
  RunConfig defaults;
  Json out = Json::array();
  for (const Option& option : options_of(defaults)) {
    Json entry = Json::object();
    entry.set("key", option.key).set("type", kind_name(option.kind));
    entry.set("default", json_value(option.get())).set("optional", option.may_be_unset);
    if (!option.unit.empty()) entry.set("unit", option.unit);
    if (option.kind == Kind::choice) {
      Json choices = Json::array();
      for (const std::string& word : option.choices) choices.push(word);
      entry.set("choices", std::move(choices));
    }
    entry.set("allowed", allowed_text(option)).set("sentence", option.sentence);
    out.push(std::move(entry));
  }
  return out;
}

}  // namespace tandem
