// choice: enums as words. A choice is an enum class counted from 0 that has, beside it, a function
// names_of(E) with one word for each value, in order.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace tandem {

template <class E>
concept Choice = std::is_enum_v<E> && requires(E value) {
  { names_of(value)[0] } -> std::convertible_to<std::string_view>;
};

template <Choice E>
constexpr std::string_view name_of(E value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

}  // namespace tandem
