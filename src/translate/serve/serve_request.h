// serve_request: what a client asks of /translate, from its JSON. Pure.
//
//   {"text": "A dog runs."}                     one sentence
//   {"texts": ["A dog runs.", "No."]}           several
//   {"document": "A dog runs. It barks."}       any length, cut into sentences, answered as it goes
// and with each, where it is not to be as the server was started:
//   "beam": 4, "alternatives": 2
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "translate/beam_search.h"

namespace tandem {

struct RequestLimits {
  std::size_t texts = 256;  // in one request
  std::int64_t beam = 16;
};

struct TranslateRequest {
  enum class Kind { text, texts, document };
  Kind kind = Kind::text;
  std::vector<std::string> sentences;
  SearchSettings search;
};

// search: what the server was started with. What cannot be served is a UserError for the client.
TranslateRequest parse_translate_request(std::string_view body, const SearchSettings& search,
                                         const RequestLimits& limits);

}  // namespace tandem
