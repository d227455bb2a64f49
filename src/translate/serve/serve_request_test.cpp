#include "translate/serve/serve_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

using Kind = TranslateRequest::Kind;

TranslateRequest parsed(std::string_view body) {
  return parse_translate_request(body, {.beam = 3, .alpha = 0.5}, {.texts = 2, .beam = 8});
}

TEST(ServeRequest, TextTextsAndDocument) {
  EXPECT_EQ(parsed(R"({"text": "a. B."})").kind, Kind::text);
  EXPECT_THAT(parsed(R"({"text": "a. B."})").sentences, testing::ElementsAre("a. B."));
  EXPECT_THAT(parsed(R"({"texts": ["a", ""]})").sentences, testing::ElementsAre("a", ""));
  EXPECT_THAT(parsed(R"({"document": "a. B."})").sentences, testing::ElementsAre("a.", "B."));
  EXPECT_EQ(parsed(R"({"document": ""})").kind, Kind::document);
}

TEST(ServeRequest, TheSearchIsTheServersUnlessTold) {
  const auto plain = parsed(R"({"text": ""})").search;
  EXPECT_EQ(plain.beam, 3);
  EXPECT_EQ(plain.n_best, 1);
  EXPECT_EQ(plain.alpha, 0.5);
  EXPECT_EQ(parsed(R"({"text": "", "beam": 2})").search.beam, 2);
  const auto many = parsed(R"({"text": "", "alternatives": 5})").search;
  EXPECT_EQ(many.n_best, 5);
  EXPECT_EQ(many.beam, 5);
}

TEST(ServeRequest, WhatCannotBeServedIsRefused) {
  for (const char* body :
       {"", "{", "[]", "3", "{}", R"({"text": 3})", R"({"texts": "a"})", R"({"texts": [1]})",
        R"({"texts": ["a", "b", "c"]})", R"({"text": "a", "texts": ["b"]})",
        R"({"text": "a", "beam": 0})", R"({"text": "a", "beam": 9})",
        R"({"text": "a", "beam": 1.5})", R"({"text": "a", "beam": 2, "alternatives": 3})",
        R"({"text": "a", "speed": 9})", R"({"text": "a", "text": "b"})"}) {
    EXPECT_THROW(parsed(body), UserError) << body;
  }
}

std::string refusal_of(std::string_view body) {
  try {
    parsed(body);
  } catch (const UserError& error) {
    return error.what();
  }
  return "served";
}

TEST(ServeRequest, ARefusalNamesTheKeyAndWhatItTakes) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of(R"({"txt": "a"})"), HasSubstr(R"("txt"; there are text, texts)"));
  EXPECT_THAT(refusal_of(R"({"text": ["a", "b"]})"),
              HasSubstr(R"(text must be a string; several are given as "texts")"));
  EXPECT_THAT(refusal_of(R"({"text": 3})"), testing::EndsWith("text must be a string"));
  EXPECT_THAT(refusal_of(R"({"document": ["a"]})"), HasSubstr("document must be a string"));
  EXPECT_THAT(refusal_of(R"({"texts": "a"})"), HasSubstr("texts must be a list of strings"));
  EXPECT_THAT(refusal_of(R"({"texts": ["a", 1]})"), HasSubstr("texts must be a list of strings"));
  for (const char* beam : {"1.5", "0", "9", "\"2\"", "[2]", "1e300"}) {
    EXPECT_THAT(refusal_of(format(R"({{"text": "a", "beam": {}}})", beam)),
                HasSubstr("beam must be a whole number from 1 to 8"));
  }
  EXPECT_THAT(refusal_of("[]"), HasSubstr("must be a JSON object"));
  EXPECT_LT(refusal_of(format(R"({{"{}": 1}})", std::string(5000, 'k'))).size(), 200U);
}

}  // namespace
}  // namespace tandem
