#include "data/builtin/english.h"

#include <gtest/gtest.h>

namespace tandem::builtin {
namespace {

std::string she(std::string_view base) {
  return english_present({base, "", "", ""}, Person::third, Number::singular);
}

TEST(English, ThirdPersonSingular) {
  EXPECT_EQ(she("read"), "reads");
  EXPECT_EQ(she("wash"), "washes");
  EXPECT_EQ(she("cry"), "cries");
  EXPECT_EQ(she("play"), "plays");
  EXPECT_EQ(she("go"), "goes");
  EXPECT_EQ(she("have"), "has");
  EXPECT_EQ(english_present({"cry", "", "", ""}, Person::third, Number::plural), "cry");
}

TEST(English, Be) {
  EXPECT_EQ(english_present(kBe, Person::first, Number::singular), "am");
  EXPECT_EQ(english_present(kBe, Person::second, Number::singular), "are");
  EXPECT_EQ(english_present(kBe, Person::third, Number::singular), "is");
  EXPECT_EQ(english_past(kBe, Person::first, Number::singular), "was");
  EXPECT_EQ(english_past(kBe, Person::third, Number::plural), "were");
}

TEST(English, Ing) {
  EXPECT_EQ(english_ing("read"), "reading");
  EXPECT_EQ(english_ing("write"), "writing");
  EXPECT_EQ(english_ing("lie"), "lying");
  EXPECT_EQ(english_ing("swim"), "swimming");
  EXPECT_EQ(english_ing("put"), "putting");
  EXPECT_EQ(english_ing("visit"), "visiting");
  EXPECT_EQ(english_ing("draw"), "drawing");
  EXPECT_EQ(english_ing("see"), "seeing");
  EXPECT_EQ(english_ing("forget"), "forgetting");
  EXPECT_EQ(english_ing("try"), "trying");
  EXPECT_EQ(english_ing("travel"), "travelling");
}

TEST(English, IndefiniteArticle) {
  EXPECT_EQ(with_indefinite_article("old man"), "an old man");
  EXPECT_EQ(with_indefinite_article("man"), "a man");
  EXPECT_EQ(with_indefinite_article("university"), "a university");
  EXPECT_EQ(with_indefinite_article("umbrella"), "an umbrella");
  EXPECT_EQ(with_indefinite_article("ugly house"), "an ugly house");
  EXPECT_EQ(with_indefinite_article("hour"), "an hour");
}

}  // namespace
}  // namespace tandem::builtin
