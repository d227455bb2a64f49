#include "translate/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"

namespace tandem {

CharClass char_class(char32_t point) {
  if (point > 0x10FFFF) return CharClass::other;
  const std::uint32_t category = U_GET_GC_MASK(static_cast<UChar32>(point));
  if ((category & U_GC_P_MASK) != 0) return CharClass::punctuation;
  if ((category & U_GC_S_MASK) != 0) return CharClass::symbol;
  if ((category & U_GC_N_MASK) != 0) return CharClass::number;
  return CharClass::other;
}

std::string to_lower(std::string_view text) {
  std::string lower;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) {
    lower = text;
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  check(text.size() <= INT32_MAX, "a text to lower-case is larger than ICU can take");
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&lower);
  const icu::StringPiece piece(text.data(), static_cast<std::int32_t>(text.size()));
  icu::CaseMap::utf8ToLower("", 0, piece, sink, nullptr, status);
  if (U_FAILURE(status) != 0) throw EnvError(format("ICU: {}", u_errorName(status)));
  return lower;
}

}  // namespace tandem
