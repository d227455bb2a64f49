#include "base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr std::size_t kMaxDepth = 64;          // nothing we write nests deeper than 6
constexpr std::size_t kMaxValues = 2'000'000;  // each takes 40 bytes, of a text's two

using Library = nlohmann::ordered_json;

// Builds our value while the library parses, so that depth is judged as it grows.
class Builder : public nlohmann::json_sax<Library> {
 public:
  explicit Builder(std::string_view where) : where_(where) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return add(static_cast<double>(value));
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(/*is_object=*/true); }
  bool end_object() override {
    Json::Object members = std::move(open_.back().members);
    refuse_duplicates(members);
    open_.pop_back();
    return add(Json::object(std::move(members)));
  }
  bool start_array(std::size_t) override { return open(/*is_object=*/false); }
  bool end_array() override {
    Json::Array items = std::move(open_.back().items);
    open_.pop_back();
    return add(Json(std::move(items)));
  }
  bool key(string_t& name) override {
    open_.back().members.emplace_back(std::move(name), nullptr);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Library::exception&) override {
    fail(format("not valid JSON at byte {}", position));
  }

 private:
  struct Frame {  // an object or array that is not closed yet
    bool is_object;
    Json::Object members;  // the last one still waits for its value
    Json::Array items;
  };

  [[noreturn]] void fail(std::string_view why) const {
    throw UserError(format("{}: {}", where_, why));
  }
  bool add(Json value) {
    if (++values_ > kMaxValues) fail(format("more than {} values", kMaxValues));
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Frame& parent = open_.back(); parent.is_object) {
      parent.members.back().second = std::move(value);
    } else {
      parent.items.push_back(std::move(value));
    }
    return true;
  }
  bool open(bool is_object) {
    if (open_.size() == kMaxDepth) fail(format("nested deeper than {} levels", kMaxDepth));
    open_.push_back({is_object, {}, {}});
    return true;
  }
  // By sorting, once an object is complete: a look-up for every key would be quadratic.
  void refuse_duplicates(const Json::Object& members) const {
    std::vector<std::string_view> keys;
    for (const auto& [key, value] : members) keys.push_back(key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) fail(format("key {} appears twice", in_quotes(*twice)));
  }

  std::string_view where_;
  std::size_t values_ = 0;
  Json root_;
  std::vector<Frame> open_;
};

template <class T>
const T& expect(const T* value, std::string_view kind) {
  if (value == nullptr) throw UserError(format("a JSON value is not {}", kind));
  return *value;
}

}  // namespace

Json& Json::set(std::string_view key, Json value) {
  auto& members = std::get<Object>(value_);
  const auto found = std::ranges::find(members, key, &Member::first);
  if (found != members.end()) {
    found->second = std::move(value);
  } else {
    members.emplace_back(key, std::move(value));
  }
  return *this;
}

Json& Json::push(Json value) {
  std::get<Array>(value_).push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  const auto& all = members();
  const auto found = std::ranges::find(all, key, &Member::first);
  return found == all.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
  const Json* found = find(key);
  if (found == nullptr) throw UserError(format("a JSON object lacks the key {}", in_quotes(key)));
  return *found;
}

bool Json::as_bool() const {
  return expect(std::get_if<bool>(&value_), "true or false");
}

std::int64_t Json::as_int() const {
  return expect(std::get_if<std::int64_t>(&value_), "a whole number");
}

double Json::as_double() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
  return expect(std::get_if<double>(&value_), "a number");
}

const std::string& Json::as_string() const {
  return expect(std::get_if<std::string>(&value_), "a string");
}

const Json::Array& Json::items() const {
  return expect(std::get_if<Array>(&value_), "an array");
}

const Json::Object& Json::members() const {
  return expect(std::get_if<Object>(&value_), "an object");
}

std::string Json::dump(int indent) const {
  const auto convert = [](const Json& json, const auto& self) -> Library {
    return std::visit(
        [&]<class T>(const T& held) -> Library {
          if constexpr (std::is_same_v<T, std::monostate>) {
            return nullptr;
          } else if constexpr (std::is_same_v<T, Array>) {
            Library out = Library::array();
            for (const Json& item : held) out.push_back(self(item, self));
            return out;
          } else if constexpr (std::is_same_v<T, Object>) {
            Library out = Library::object();
            for (const auto& [key, item] : held) out.push_back({key, self(item, self)});
            return out;
          } else {
            return held;
          }
        },
        json.value_);
  };
  return convert(*this, convert).dump(indent, ' ', false, Library::error_handler_t::replace);
}

Json Json::parse(std::string_view text, std::string_view where) {
  Builder builder(where);
  check(Library::sax_parse(text, &builder), "the JSON builder refuses by throwing only");
  return builder.take();
}

}  // namespace tandem
