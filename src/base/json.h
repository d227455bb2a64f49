// json: a JSON value with ordered objects. Parsing treats input as hostile: depth and number of
// values are bounded, duplicate keys are errors; numbers are printed so that they read back to the
// same bits (JSON has no infinity and no NaN: they are written as null).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace tandem {

// Numbers only: a bool is no number, and a character would silently become its code.
template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(std::same_as<bool> auto value) : value_(value) {}  // no pointer becomes one
  Json(WholeNumber auto value) : value_(static_cast<std::int64_t>(value)) {
    check(std::in_range<std::int64_t>(value), "a number above 2^63-1 does not fit into JSON");
  }
  Json(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(Array items) : value_(std::move(items)) {}
  template <class T>
  Json(std::optional<T> value) {  // nothing is null
    if (value) *this = Json(*std::move(value));
  }
  static Json array() { return Json(Array{}); }
  // The keys of members differ.
  static Json object(Object members = {}) { return Json(std::move(members), 0); }

  // Building: Json::object().set("pairs", 3).set("name", "x").
  Json& set(std::string_view key, Json value);  // replaces an existing key
  Json& push(Json value);

  // Reading. at() and as_x() throw UserError naming the key or the kind that was expected.
  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_number() const {
    return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<double>(value_);
  }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  const Json* find(std::string_view key) const;  // null when absent
  const Json& at(std::string_view key) const;
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;  // also from an integer
  const std::string& as_string() const;
  const Array& items() const;
  const Object& members() const;

  // indent < 0: one line. Invalid UTF-8 in strings is replaced, never written.
  std::string dump(int indent = -1) const;
  // where: what the text is, for the error message ("card.json").
  static Json parse(std::string_view text, std::string_view where);

 private:
  Json(Object members, int) : value_(std::move(members)) {}
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

}  // namespace tandem
