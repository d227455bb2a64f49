// option: one setting without its C++ type, as every visitor sees it: how it is called, what it
// may be, what it means, and access to its value inside one RunConfig.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem {

// monostate: not set. Choices are their word.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

enum class Kind { flag, integer, number, text, choice };

// What a number may be.
struct Limits {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool least_itself = true, most_itself = true;  // whether the limit itself is allowed
};
constexpr Limits at_least(double least) {
  return {.least = least};
}
constexpr Limits above(double least) {
  return {.least = least, .least_itself = false};
}
constexpr Limits between(double least, double most) {
  return {.least = least, .most = most};
}
constexpr Limits fraction() {  // of something: 0 or more and less than 1
  return {.least = 0, .most = 1, .most_itself = false};
}

struct Option {
  std::string key;  // "optim.lr"
  Kind kind{};
  bool may_be_unset = false;
  Limits limits;
  std::vector<std::string> choices;
  std::string unit;  // may be empty
  std::string sentence;
  std::function<Value()> get;
  std::function<void(const Value&)> set;  // takes what parse_value() made of this option
};

// "2", "exact", "null" ... as this option's type has it. On failure the value is empty and problem
// says what is expected instead, range included.
struct Parsed {
  std::optional<Value> value;
  std::string problem;
};
Parsed parse_value(const Option& option, std::string_view text);

// Empty when the value is allowed, else what is expected.
std::string range_problem(const Option& option, const Value& value);

// "0 or more", "above 0 and up to 100", "auto, cpu or cuda", "true or false"; "or null" where it
// may be unset.
std::string allowed_text(const Option& option);

// As YAML: reads back to the same value, numbers to the last bit.
std::string yaml_text(const Option& option, const Value& value);

}  // namespace tandem
