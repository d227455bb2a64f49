// describe: from the typed sections to a list of options. Each section is a struct and, below it, a
// function describe(visitor, section) that names every field once; Describer is the visitor that
// makes an Option of each.
//
//   option("warmup_steps", c.warmup_steps, at_least(0), "steps", "steps of linear warm-up");
//   option("schedule", c.schedule, "how the learning rate changes over the steps");
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/choice.h"
#include "config/option.h"

namespace tandem {

// How a field's type becomes a Value and back.
template <class T>
struct FieldType;
template <>
struct FieldType<bool> {
  static constexpr Kind kind = Kind::flag;
};
template <>
struct FieldType<std::int64_t> {
  static constexpr Kind kind = Kind::integer;
};
template <>
struct FieldType<double> {
  static constexpr Kind kind = Kind::number;
};
template <>
struct FieldType<std::string> {
  static constexpr Kind kind = Kind::text;
};
template <Choice E>
struct FieldType<E> {
  static constexpr Kind kind = Kind::choice;
};

template <class T>
Value to_value(const T& field) {
  if constexpr (Choice<T>) {
    return std::string(name_of(field));
  } else {
    return field;
  }
}
template <class T>
Value to_value(const std::optional<T>& field) {
  return field ? to_value(*field) : Value{};
}

template <class T>
void from_value(const Value& value, T& field) {
  if constexpr (Choice<T>) {
    const auto names = names_of(T{});
    const auto at = std::find(names.begin(), names.end(), std::get<std::string>(value));
    field = static_cast<T>(at - names.begin());
  } else {
    field = std::get<T>(value);
  }
}
template <class T>
void from_value(const Value& value, std::optional<T>& field) {
  if (std::holds_alternative<std::monostate>(value)) {
    field.reset();
  } else {
    from_value(value, field.emplace());
  }
}

// The options refer to the fields of the object that was described and live no longer than it.
class Describer {
 public:
  explicit Describer(std::vector<Option>& options) : options_(options) {}

  template <class Section>
  void section(const std::string& name, Section& fields) {
    prefix_ = name + ".";
    describe(*this, fields);
    prefix_.clear();
  }

  template <class T>
  void operator()(const char* name, T& field, const char* sentence) {
    add(name, field, sentence);
  }
  template <class T>
  void operator()(const char* name, T& field, Limits limits, const char* unit,
                  const char* sentence) {
    Option& option = add(name, field, sentence);
    option.limits = limits;
    option.unit = unit;
  }

 private:
  template <class T>
  Option& add(const char* name, std::optional<T>& field, const char* sentence) {
    Option& option = add_as<T>(name, field, sentence);
    option.may_be_unset = true;
    return option;
  }
  template <class T>
  Option& add(const char* name, T& field, const char* sentence) {
    return add_as<T>(name, field, sentence);
  }

  template <class T, class Field>
  Option& add_as(const char* name, Field& field, const char* sentence) {
    Option& option = options_.emplace_back();
    option.key = prefix_ + name;
    option.kind = FieldType<T>::kind;
    option.sentence = sentence;
    if constexpr (Choice<T>) {
      for (std::string_view word : names_of(T{})) option.choices.emplace_back(word);
    }
    option.get = [&field] { return to_value(field); };
    option.set = [&field](const Value& value) { from_value(value, field); };
    return option;
  }

  std::vector<Option>& options_;
  std::string prefix_;
};

}  // namespace tandem
