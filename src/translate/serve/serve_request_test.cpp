#include "translate/serve/serve_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

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

}  // namespace
}  // namespace tandem
