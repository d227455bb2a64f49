#include "base/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <random>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

std::string error_of(std::string_view text) {
  try {
    Json::parse(text, "card.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

}  // namespace

TEST(Json, EveryFiniteDoubleReadsBackToTheSameBits) {
  std::vector<double> values = {0.0,
                                -0.0,
                                1.0,
                                0.1,
                                1e22,
                                1e23,
                                9007199254740993.0,
                                std::numeric_limits<double>::min(),
                                std::numeric_limits<double>::denorm_min(),
                                std::numeric_limits<double>::max(),
                                std::nextafter(1.0, 2.0)};
  std::mt19937_64 random(7);
  while (values.size() < 20'000) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  for (const double value : values) {
    const std::string text = Json(value).dump();
    ASSERT_EQ(bits(Json::parse(text, "x").as_double()), bits(value)) << text;
  }
}

TEST(Json, WhatIsNoNumberIsWrittenAsNull) {  // JSON has no word for it
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json(HUGE_VAL).dump(), "null");
}

TEST(Json, WholeNumbersAreExactToTheirLimits) {
  for (const std::int64_t value : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0},
                                   (std::int64_t{1} << 53) + 1, INT64_MAX}) {
    EXPECT_EQ(Json::parse(Json(value).dump(), "x").as_int(), value);
  }
}

TEST(Json, NumbersBeyond63BitsAreNotWholeNumbers) {
  const Json big = Json::parse("9223372036854775808", "x");  // 2^63
  EXPECT_EQ(big.as_double(), 0x1p63);
  EXPECT_THROW(big.as_int(), UserError);
  EXPECT_THROW(Json(std::uint64_t{1} << 63), InternalError);  // not -2^63
  EXPECT_NE(error_of("1e400"), "");
}

TEST(Json, OnlyValuesOfItsKindsMakeOne) {
  static_assert(std::constructible_from<Json, bool>);
  static_assert(std::constructible_from<Json, std::uint8_t>);
  static_assert(std::constructible_from<Json, float>);
  static_assert(!std::constructible_from<Json, const int*>);  // would be true
  static_assert(!std::constructible_from<Json, char>);        // would be 97 for 'a'
  static_assert(!std::constructible_from<Json, char8_t>);
  EXPECT_EQ(Json(true).dump(), "true");
  EXPECT_EQ(Json("text").dump(), "\"text\"");
  EXPECT_EQ(Json(std::uint8_t{200}).dump(), "200");
  EXPECT_EQ(Json(0.5F).dump(), "0.5");
}

TEST(Json, ObjectsKeepTheirOrderAndSetReplaces) {
  Json json = Json::object();
  json.set("z", 1).set("a", Json::array().push("x").push(Json())).set("z", 2);
  EXPECT_EQ(json.dump(), R"({"z":2,"a":["x",null]})");
  EXPECT_EQ(Json::parse(json.dump(), "x").dump(), json.dump());
  EXPECT_EQ(Json::parse(json.dump(2), "x").dump(), json.dump());
}

TEST(Json, ADuplicateKeyIsRefusedByName) {
  EXPECT_EQ(error_of(R"({"a":1,"b":{"a":2},"c":3})"), "");
  EXPECT_EQ(error_of(R"({"a":1,"b":2,"a":3})"), "card.json: key \"a\" appears twice");
  EXPECT_EQ(error_of(R"({"a":1,"\u0061":3})"), "card.json: key \"a\" appears twice");
}

TEST(Json, AKeyCannotForgeALineNorFillTheScreen) {
  EXPECT_EQ(error_of(R"({"a\ntandem: done":1,"a\ntandem: done":1})"),
            R"(card.json: key "a\x0atandem: done" appears twice)");
  const std::string key(3'000'000, 'k');
  EXPECT_LT(error_of(format("{{\"{}\":1,\"{}\":1}}", key, key)).size(), 100u);
}

TEST(Json, ManyKeysDoNotCostQuadraticTime) {  // which would be minutes
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += format("{}\"key{}\":{}", i == 0 ? "" : ",", i, i);
  const Json json = Json::parse(text + "}", "x");
  EXPECT_EQ(json.members().size(), 200'000U);
  EXPECT_EQ(json.members().back().second.as_int(), 199'999);
}

TEST(Json, DepthIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(64)), "");
  EXPECT_EQ(error_of(nested(65)), "card.json: nested deeper than 64 levels");
  EXPECT_EQ(error_of(std::string(10'000'000, '[')), "card.json: nested deeper than 64 levels");
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(error_of(objects), "card.json: nested deeper than 64 levels");
}

TEST(Json, TheNumberOfValuesIsBounded) {  // each takes twenty times its text
  const auto zeros = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  EXPECT_EQ(Json::parse(zeros(1'000'000), "a file").items().size(), 1'000'000u);
  EXPECT_THROW(Json::parse(zeros(2'000'001), "a file"), UserError);
}

TEST(Json, ATextCutAtAnyByteIsRefused) {
  const std::string whole =
      R"({"pairs": -12, "ok": true, "share": 1.5e-3, "text": "ä\n\u00e4", "list": [null, {}]})";
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_TRUE(error_of(whole.substr(0, n)).starts_with("card.json: not valid JSON at byte"))
        << whole.substr(0, n);
  }
}

TEST(Json, WhatIsNotJsonIsRefused) {
  for (const char* text :
       {"", " ", "{} {}", "{}x", "[1,]", "{\"a\":1,}", "NaN", "Infinity", "'a'", "01", "+1",
        "/**/1", "\"\x01\"", "\"\xff\"", "\"\xc3\"", "\"\\ud800\"", "\xef\xbb", "tru", "{a:1}"}) {
    EXPECT_TRUE(error_of(text).starts_with("card.json: not valid JSON")) << text;
  }
}

TEST(Json, InvalidUtf8IsReplacedWhenWritten) {
  const std::string dumped = Json(std::string("a\xff\xc3(z\xf0\x9f")).dump();
  EXPECT_EQ(Json::parse(dumped, "x").as_string(), "a\uFFFD\uFFFD(z\uFFFD");
  const Json key = Json::object().set("k\xff", 1);
  EXPECT_EQ(Json::parse(key.dump(), "x").members().front().first, "k\uFFFD");
}

TEST(Json, AnyBytesInAStringGiveALineThatReadsBack) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 20, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string line = Json(text).dump();
    ASSERT_EQ(line.find('\n'), std::string::npos);
    ASSERT_NO_THROW(Json::parse(line, "x")) << testing::PrintToString(text);
  }
}

TEST(Json, ReadingTheWrongKindSaysWhatWasExpected) {
  const Json json = Json::parse(R"({"n": 1, "s": "x"})", "card.json");
  EXPECT_EQ(json.at("n").as_double(), 1.0);
  EXPECT_EQ(json.find("absent"), nullptr);
  EXPECT_THROW(json.at("absent"), UserError);
  EXPECT_THROW(json.at("s").as_int(), UserError);
  EXPECT_THROW(json.at("n").as_string(), UserError);
  EXPECT_THROW(json.at("n").find("x"), UserError);
  EXPECT_THROW(json.items(), UserError);
}

}  // namespace tandem
