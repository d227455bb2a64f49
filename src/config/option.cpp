#include "config/option.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/format.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr std::size_t kLongestText = 4096;  // PATH_MAX of Linux

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Text ends up in logs, YAML and JSON: it has to survive all of them unchanged.
bool is_plain_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x20 || lead == 0x7f) return false;
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return false;
    if (i + length > text.size()) return false;
    char32_t point = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      point = (point << 6) | (next & 0x3fu);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    const bool control = point >= 0x80 && point < 0xa0;  // C1; includes YAML's line break U+0085
    const bool separator = point == 0x2028 || point == 0x2029 || point == 0xfeff;
    const bool replaced =
        point == 0xfffd;  // what the YAML parser makes of bytes that are not UTF-8
    if (overlong || surrogate || control || separator || replaced || point > 0x10ffff) return false;
    i += length;
  }
  return true;
}

// With a dot, so that YAML readers that go by looks take it for a number, too.
std::string number_text(double number) {
  std::string text = format("{}", number);
  if (text.find('.') == std::string::npos) {
    text.insert(std::min(text.find('e'), text.size()), ".0");
  }
  return text;
}

std::string limit_text(Kind kind, double limit) {
  if (kind == Kind::integer) return format("{}", static_cast<std::int64_t>(limit));
  return format("{}", limit);
}

// A limit that is not finite is none and has no text.
std::string limits_text(const Option& option) {
  const Limits& limits = option.limits;
  if (!std::isfinite(limits.least)) {
    return option.kind == Kind::integer ? "any whole number" : "any number";
  }
  const std::string least = limit_text(option.kind, limits.least);
  if (!std::isfinite(limits.most))
    return limits.least_itself ? least + " or more" : "above " + least;
  return format("{} {} {}", limits.least_itself ? least : "above " + least,
                limits.most_itself ? "to" : "to below", limit_text(option.kind, limits.most));
}

bool is_inside(const Limits& limits, double number) {
  return (limits.least_itself ? number >= limits.least : number > limits.least) &&
         (limits.most_itself ? number <= limits.most : number < limits.most);
}

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::optional<Value> read_as_kind(const Option& option, std::string_view text) {
  const auto as_value = [](auto number) {
    return number ? std::optional<Value>(*number) : std::nullopt;
  };
  switch (option.kind) {
    case Kind::flag:
      if (text == "true") return true;
      if (text == "false") return false;
      return std::nullopt;
    case Kind::integer:
      return as_value(parse_number<std::int64_t>(text));
    case Kind::number:
      return as_value(parse_number<double>(text));
    case Kind::text:
    case Kind::choice:
      break;
  }
  return std::string(text);
}

}  // namespace

std::string allowed_text(const Option& option) {
  std::string text;
  switch (option.kind) {
    case Kind::flag:
      text = "true or false";
      break;
    case Kind::integer:
    case Kind::number:
      text = limits_text(option);
      break;
    case Kind::text:
      text = "text";
      break;
    case Kind::choice:
      text = format("{}", join(option.choices, ", "));
      break;
  }
  return option.may_be_unset ? text + ", or null" : text;
}

std::string range_problem(const Option& option, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    return option.may_be_unset ? "" : format("needs a value: {}", allowed_text(option));
  }
  const auto expected = [&](std::string_view shown) {
    return format("is {}, but may be {}", shown, allowed_text(option));
  };
  switch (option.kind) {
    case Kind::flag:
      break;
    case Kind::integer:
    case Kind::number: {
      const bool whole = option.kind == Kind::integer;
      const double number =
          whole ? static_cast<double>(std::get<std::int64_t>(value)) : std::get<double>(value);
      if (!std::isfinite(number) || !is_inside(option.limits, number)) {
        return expected(whole ? format("{}", std::get<std::int64_t>(value)) : format("{}", number));
      }
      break;
    }
    case Kind::text: {
      const auto& text = std::get<std::string>(value);
      if (text.empty()) return "is empty; give it a value";
      if (text.size() > kLongestText) return format("is longer than {} bytes", kLongestText);
      if (!is_plain_utf8(text)) return "has control characters or is not valid UTF-8";
      break;
    }
    case Kind::choice: {
      const auto& word = std::get<std::string>(value);
      if (std::find(option.choices.begin(), option.choices.end(), word) != option.choices.end()) {
        break;
      }
      const std::string meant = word.size() > 100 ? "" : nearest_word(word, option.choices);
      return expected(in_quotes(word)) +
             (meant.empty() ? "" : format(" (did you mean \"{}\"?)", meant));
    }
  }
  return {};
}

Parsed parse_value(const Option& option, std::string_view text) {
  const std::optional<Value> value = read_as_kind(option, text);
  if (!value) {
    return {std::nullopt, format("is {}, but {} is expected: {}", in_quotes(text),
                                 option.kind == Kind::flag      ? "a flag"
                                 : option.kind == Kind::integer ? "a whole number"
                                                                : "a number",
                                 allowed_text(option))};
  }
  std::string problem = range_problem(option, *value);
  if (!problem.empty()) return {std::nullopt, std::move(problem)};
  return {value, {}};
}

std::string yaml_text(const Option& option, const Value& value) {
  struct Printer {
    Kind kind;
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return format("{}", number); }
    std::string operator()(double number) const { return number_text(number); }
    std::string operator()(const std::string& text) const {
      return kind == Kind::choice ? text : yaml_quoted(text);
    }
  };
  return std::visit(Printer{option.kind}, value);
}

}  // namespace tandem
