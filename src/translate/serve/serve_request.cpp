#include "translate/serve/serve_request.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "translate/serve/sentence_split.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 5> kKeys{"text", "texts", "document", "beam",
                                                "alternatives"};
constexpr std::size_t kMostShown = 40;  // of what a client sent; it need not get all of it back

void check_keys(const Json& request) {
  if (!request.is_object()) throw UserError("the request must be a JSON object");
  int sources = 0;
  for (const auto& [key, value] : request.members()) {
    const auto place = static_cast<std::size_t>(std::ranges::find(kKeys, key) - kKeys.begin());
    if (place == kKeys.size()) {
      throw UserError(
          format("unknown key \"{}\"; there are {}", key.substr(0, kMostShown), join(kKeys, ", ")));
    }
    if (place < 3) ++sources;
  }
  if (sources != 1) throw UserError("give one of text, texts and document");
}

std::int64_t number_of(const Json& request, const char* key, std::int64_t otherwise,
                       std::int64_t most) {
  const Json* value = request.find(key);
  if (value == nullptr) return otherwise;
  const double number = value->is_number() ? value->as_double() : 0;
  if (!(number >= 1 && number <= static_cast<double>(most)) || number != std::floor(number)) {
    throw UserError(format("{} must be a whole number from 1 to {}", key, most));
  }
  return static_cast<std::int64_t>(number);
}

std::string text_of(const Json& value, const char* key) {
  if (value.is_string()) return value.as_string();
  throw UserError(format("{} must be a string{}", key,
                         value.is_array() ? "; several are given as \"texts\"" : ""));
}

std::vector<std::string> texts_of(const Json& list, std::size_t most) {
  if (!list.is_array() || !std::ranges::all_of(list.items(), &Json::is_string)) {
    throw UserError("texts must be a list of strings");
  }
  if (list.items().size() > most) throw UserError(format("at most {} texts a request", most));
  std::vector<std::string> texts;
  for (const Json& text : list.items()) texts.push_back(text.as_string());
  return texts;
}

}  // namespace

TranslateRequest parse_translate_request(std::string_view body, const SearchSettings& search,
                                         const RequestLimits& limits) {
  const Json json = Json::parse(body, "the request");
  check_keys(json);
  TranslateRequest request;
  if (const Json* text = json.find("text")) {
    request.sentences = {text_of(*text, "text")};
  } else if (const Json* texts = json.find("texts")) {
    request.kind = TranslateRequest::Kind::texts;
    request.sentences = texts_of(*texts, limits.texts);
  } else {
    request.kind = TranslateRequest::Kind::document;
    request.sentences = split_sentences(text_of(json.at("document"), "document"));
  }
  request.search = search;
  const std::int64_t alternatives = number_of(json, "alternatives", 1, limits.beam);
  request.search.n_best = alternatives;
  // As many alternatives as asked for need a beam as wide.
  request.search.beam = number_of(json, "beam", std::max(search.beam, alternatives), limits.beam);
  if (request.search.n_best > request.search.beam) {
    throw UserError("alternatives must not be above beam");
  }
  return request;
}

}  // namespace tandem
