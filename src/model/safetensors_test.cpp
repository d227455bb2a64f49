#include "model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/error.h"
#include "base/format.h"
#include "base/rng.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

const fs::path kPath = "x.safetensors";

// The bytes of a file whose header claims a length.
std::string file(std::string_view header, std::size_t data_bytes, std::uint64_t length) {
  std::string contents(reinterpret_cast<const char*>(&length), sizeof length);
  contents += header;
  contents.append(data_bytes, '\7');
  return contents;
}

SafetensorsContents parse(std::string_view bytes) {
  return parse_safetensors(std::as_bytes(std::span{bytes}), kPath);
}

std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("x.safetensors"));
    return error.what();
  }
  return "taken";
}

std::string refusal(std::string_view header, std::size_t data_bytes) {
  return refusal(file(header, data_bytes, header.size()));
}

std::string entry(std::string_view name, std::string_view shape, std::string_view offsets,
                  std::string_view type = "F32") {
  return format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape,
                offsets);
}

TEST(Safetensors, WhatIsWrittenReadsBackToTheBit) {
  const std::vector<float> a{1, -0.0f, 3e-42f, std::numeric_limits<float>::quiet_NaN(), 5, 6};
  const std::vector<std::int64_t> b{-1, 1LL << 60};
  const std::vector<ArrayView> arrays{
      {"a.weight", ArrayType::f32, {2, 3}, std::as_bytes(std::span{a})},
      {"empty", ArrayType::f16, {0, 4}, {}},
      {"b", ArrayType::i64, {2}, std::as_bytes(std::span{b})},
      {"scalar", ArrayType::f32, {}, std::as_bytes(std::span{a}.first(1))}};
  const TemporaryFolder folder;
  const fs::path path = folder.path() / kPath;
  write_safetensors(path, arrays, {{"step", "12"}, {"text", "ä\n"}});
  const SafetensorsFile read(path);
  ASSERT_EQ(read.arrays().size(), arrays.size());
  EXPECT_EQ(read.metadata(), (TextMap{{"step", "12"}, {"text", "ä\n"}}));
  for (const ArrayView& array : arrays) {
    const ArrayView* found = read.find(array.name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->type, array.type);
    EXPECT_EQ(found->shape, array.shape);
    EXPECT_TRUE(std::ranges::equal(found->bytes, array.bytes));
  }
  EXPECT_EQ(read.find("c"), nullptr);
}

TEST(Safetensors, ValidFilesAreTaken) {
  EXPECT_EQ(refusal("{}", 0), "taken");
  EXPECT_EQ(refusal("{" + entry("a", "[2]", "[0,8]") + "}   ", 8), "taken");
  EXPECT_EQ(refusal("{" + entry("../../x", "[]", "[0,4]") + "}", 4), "taken");  // never a path
  EXPECT_EQ(refusal("{" + entry("b", "[1]", "[4,8]") + "," + entry("a", "[1]", "[0,4]") + "}", 8),
            "taken");
}

TEST(Safetensors, EveryKindOfDamageIsNamed) {
  EXPECT_THAT(refusal(file("{}", 0, 1ull << 63)), HasSubstr("9223372036854775808 bytes"));
  EXPECT_THAT(refusal(file("{}", 0, ~0ull)), HasSubstr("would have"));
  EXPECT_THAT(refusal(file("{}", 0, 100'000'001)), HasSubstr("would have"));
  EXPECT_THAT(refusal(file("{}", 0, 3)), HasSubstr("longer than the file"));
  EXPECT_THAT(refusal(file("", 0, 0)), HasSubstr("start with {"));
  EXPECT_THAT(refusal(" {}", 0), HasSubstr("start with {"));
  EXPECT_THAT(refusal("{", 0), HasSubstr("JSON"));
  EXPECT_THAT(refusal("{}x", 0), HasSubstr("JSON"));
  EXPECT_THAT(refusal("{\"a\":" + std::string(100000, '['), 0), HasSubstr("nested"));
  const std::string good = entry("a", "[1]", "[0,4]");
  EXPECT_THAT(refusal("{" + good + "," + good + "}", 4), HasSubstr("appears twice"));
  EXPECT_THAT(refusal("{" + good + "," + entry("b", "[1]", "[2,6]") + "}", 6),
              HasSubstr("overlap"));
  EXPECT_THAT(refusal("{" + good + "," + entry("b", "[1]", "[0,4]") + "}", 4),
              HasSubstr("overlap"));
  EXPECT_THAT(refusal("{" + good + "," + entry("b", "[1]", "[8,12]") + "}", 12), HasSubstr("hole"));
  EXPECT_THAT(refusal("{" + good + "}", 5), HasSubstr("left over"));
  EXPECT_THAT(refusal("{" + good + "}", 3), HasSubstr("outside"));
  EXPECT_THAT(refusal("{" + entry("a", "[4294967296,4294967296]", "[0,0]") + "}", 0),
              HasSubstr("2^64"));
  EXPECT_THAT(refusal("{" + entry("a", "[9223372036854775807,2]", "[0,4]") + "}", 4),
              HasSubstr("2^64"));
  EXPECT_THAT(refusal("{" + entry("a", "[18446744073709551617]", "[0,4]") + "}", 4),
              HasSubstr("bad shape"));
  EXPECT_THAT(refusal("{" + entry("a", "[-1]", "[0,4]") + "}", 4), HasSubstr("negative"));
  EXPECT_THAT(refusal("{" + entry("a", "[1.5]", "[0,4]") + "}", 4), HasSubstr("bad shape"));
  EXPECT_THAT(refusal("{" + entry("a", "[\"1\"]", "[0,4]") + "}", 4), HasSubstr("bad shape"));
  EXPECT_THAT(refusal("{" + entry("a", "1", "[0,4]") + "}", 4), HasSubstr("bad shape"));
  EXPECT_THAT(refusal("{" + entry("a", "[1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", 4),
              HasSubstr("dimensions"));
  EXPECT_THAT(refusal("{" + entry("a", "[1]", "[0,4]", "F13") + "}", 4), HasSubstr("dtype"));
  EXPECT_THAT(refusal("{" + entry("a", "[1]", "[4,0]") + "}", 4), HasSubstr("outside"));
  EXPECT_THAT(refusal("{" + entry("a", "[1]", "[-4,0]") + "}", 4), HasSubstr("outside"));
  EXPECT_THAT(refusal("{" + entry("a", "[1]", "[0]") + "}", 4), HasSubstr("data_offsets"));
  EXPECT_THAT(refusal("{" + entry("a", "[1]", "[0,1e400]") + "}", 4), HasSubstr("JSON"));
  EXPECT_THAT(refusal("{" + entry("a", "[2]", "[0,4]") + "}", 4), HasSubstr("shape needs"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[1]}})", 4), HasSubstr("described by"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
              HasSubstr("described by"));
  EXPECT_THAT(refusal(R"({"a":3})", 0), HasSubstr("described by"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"a":1}})", 0), HasSubstr("__metadata__"));
  EXPECT_THAT(refusal(R"({"__metadata__":[]})", 0), HasSubstr("__metadata__"));
  EXPECT_THAT(refusal("{" + entry("NaN\\u0000\\u001b[31m", "[1]", "[0,3]") + "}", 3),
              HasSubstr(R"("NaN\x00\x1b[31m")"));
}

TEST(Safetensors, MillionsOfArraysAreRefusedAtOnce) {
  std::string header = "{";
  for (int i = 0; i < 1'000'000; ++i) header += format("\"{}\":{{}},", i);
  header.back() = '}';
  const std::clock_t begin = std::clock();  // processor time: other work does not count
  EXPECT_THAT(refusal(header, 0), HasSubstr("more than"));
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
}

TEST(Safetensors, ChangedBytesAreRefusedOrReadWithinBounds) {
  const std::string header = "{" + entry("a", "[2,3]", "[0,24]") + "," +
                             entry("b", "[4]", "[24,32]", "F16") + "," +
                             entry("c", "[]", "[32,40]", "I64") + "}";
  int taken = 0;
  for (std::uint64_t round = 0; round < 100000; ++round) {
    std::string changed = header;
    for (std::uint64_t k = 0; k <= round % 3; ++k) {
      const std::uint64_t bits = random_bits(1, round, k);
      const std::string_view alphabet = "0123456789-[]{}\",:.eE \\ufax\xff";
      changed[bounded(bits, changed.size())] = alphabet[(bits & 0xffff) % alphabet.size()];
    }
    const std::string bytes = file(changed, 40, changed.size());
    try {
      const SafetensorsContents read = parse(bytes);
      ++taken;
      std::size_t seen = 0;
      for (const ArrayView& array : read.arrays) {
        for (const std::byte byte : array.bytes) seen += byte == std::byte{7};
      }
      EXPECT_EQ(seen, 40u);
    } catch (const UserError&) {
    }
  }
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace tandem
