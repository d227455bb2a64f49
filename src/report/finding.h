// finding: what can be said about a run: a question, a verdict with its reason, the numbers behind
// it, how sure it is, and what to do. "Cannot tell, because ..." is a verdict; a guess is not.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace tandem {

enum class Ruling { yes, no, partly, cannot_tell };
enum class Confidence { none, low, medium, high };

constexpr std::string_view name_of(Ruling verdict) {
  switch (verdict) {
    case Ruling::yes:
      return "yes";
    case Ruling::no:
      return "no";
    case Ruling::partly:
      return "partly";
    case Ruling::cannot_tell:
      break;
  }
  return "cannot tell";
}

constexpr std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::low:
      return "low";
    case Confidence::medium:
      return "medium";
    case Confidence::high:
      return "high";
    case Confidence::none:
      break;
  }
  return "none";
}

struct Finding {
  std::string key = {};       // "overfitting"
  std::string question = {};  // "Is it overfitting?"
  Ruling verdict = Ruling::cannot_tell;
  std::string text = {};  // the verdict as a sentence: "yes, since step 12000: ..."
  Json evidence = Json::object();
  Confidence confidence = Confidence::none;
  std::string advice = {};  // "" when there is nothing to do
  bool good = true;         // whether the verdict is what one hopes for
};

}  // namespace tandem
