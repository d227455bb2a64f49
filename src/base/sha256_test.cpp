#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"

namespace tandem {
namespace {

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

}  // namespace

TEST(Sha256, AgreesWithThePublishedVectors) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheHashOfTheWholeAndMayGoOnAfterHex) {
  Sha256 hash;
  hash.add("a");
  EXPECT_EQ(hash.hex(), sha256_of("a"));
  hash.add("");
  hash.add("bc");
  EXPECT_EQ(hash.hex(), sha256_of("abc"));
}

TEST(Sha256, AFileHasTheHashOfItsBytes) {
  const fs::path path = fs::path(testing::TempDir()) / "sha256_test.bin";
  const std::string contents(1'000'003, '\x7f');  // no multiple of any block
  atomic_write(path, contents);
  EXPECT_EQ(sha256_of_file(path), sha256_of(contents));
  fs::remove(path);
  EXPECT_THROW(sha256_of_file(path), UserError);
}

TEST(Sha256, OnlySixtyFourLowerCaseHexDigitsAreAHash) {
  EXPECT_TRUE(is_sha256_hex(sha256_of("x")));
  EXPECT_FALSE(is_sha256_hex(""));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'g')));
}

TEST(Hmac, AgreesWithThePublishedVectors) {  // RFC 4231, cases 1 and 2
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char c : bytes) text += format("{:02x}", static_cast<unsigned char>(c));
    return text;
  };
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, SecretsAreEqualOnlyWhenTheyAre) {
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_TRUE(equal_secrets("abc", "abc"));
  EXPECT_FALSE(equal_secrets("abc", "abd"));
  EXPECT_FALSE(equal_secrets("abc", "ab"));
}

}  // namespace tandem
