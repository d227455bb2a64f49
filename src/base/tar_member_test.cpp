#include "base/tar_member.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/temporary_folder.h"
#include "base/test_tar.h"

namespace tandem {
namespace {

class TarArchive : public testing::Test {
 protected:
  fs::path file(std::string_view contents) const {
    std::ofstream(path_, std::ios::binary) << contents;
    return path_;
  }
  // The member's bytes, asked for in pieces of odd size; or the error.
  std::string member_of(const std::string& archive, const std::string& member) const {
    try {
      const auto source = open_member(file(archive), member);
      std::string all;
      std::array<char, 97> piece{};
      while (const std::size_t n = source->read(piece)) all.append(piece.data(), n);
      return all;
    } catch (const UserError& error) {
      return error.what();
    }
  }
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "a.tar";
};

std::string lines_of_numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += format("{}\n", i);
  return text;
}

}  // namespace

TEST_F(TarArchive, GivesTheBytesOfTheNamedFileOnly) {
  const std::string text = lines_of_numbers(3000);
  const std::string archive = tar_entry("d/", "", '5') + tar_entry("d/a", "first") +
                              tar_entry("d/b", text) + tar_entry("d/c", std::string(512, 'x')) +
                              tar_entry("d/empty", "") + kTarEnd;
  EXPECT_EQ(member_of(archive, "d/a"), "first");
  EXPECT_EQ(member_of(archive, "d/b"), text);
  EXPECT_EQ(member_of(archive, "./d/c"), std::string(512, 'x'));
  EXPECT_EQ(member_of(archive, "d/empty"), "");
  EXPECT_EQ(member_of(archive, "d/z"), path_.string() + " has no file d/z in it");
  EXPECT_EQ(member_of(archive, "d/"), path_.string() + " has no file d/ in it");  // a folder
}

TEST_F(TarArchive, PassesOverLinksAndExtraHeaders) {
  const std::string archive = tar_entry("x", "20 path=y\n", 'x') + tar_entry("a", "", '2') +
                              tar_entry("././@LongLink", std::string(300, 'n'), 'L') +
                              tar_entry("a", "text") + tar_entry("a", "later") + kTarEnd;
  EXPECT_EQ(member_of(archive, "a"), "text");
}

TEST_F(TarArchive, CutAnywhereItIsRefusedInOneSentence) {
  const std::string archive =
      tar_entry("a", lines_of_numbers(200)) + tar_entry("b", lines_of_numbers(300));
  const std::size_t text_end = archive.size() - (512 - lines_of_numbers(300).size() % 512) % 512;
  for (std::size_t n = 0; n < text_end; n += 53) {
    EXPECT_EQ(member_of(archive.substr(0, n), "b"),
              path_.string() + ": the archive is cut short, looking for b")
        << n;
  }
  EXPECT_EQ(member_of(archive.substr(0, text_end), "b"), lines_of_numbers(300));
}

TEST_F(TarArchive, ALyingSizeNeitherHangsNorAllocates) {
  const std::string huge_octal = tar_header("a", "77777777777") + "few";
  EXPECT_NE(member_of(huge_octal, "b").find("cut short"), std::string::npos);
  EXPECT_NE(member_of(huge_octal, "a").find("cut short"), std::string::npos);
  const std::string all_bits = tar_header("a", std::string(12, '\xff'));
  EXPECT_NE(member_of(all_bits, "b").find("damaged"), std::string::npos);
  std::string large("\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
  EXPECT_NE(member_of(tar_header("a", large), "b").find("damaged"), std::string::npos);
  EXPECT_NE(member_of(tar_header("a", "12x"), "b").find("damaged"), std::string::npos);
}

TEST_F(TarArchive, EveryChangedByteOfAHeaderIsFound) {
  const std::string archive = tar_entry("a", "x") + tar_entry("b", "y") + kTarEnd;
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < 512; ++i) {
    if (i >= 154 && i < 156) continue;  // what ends the checksum's digits
    std::string changed = archive;
    changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1 + random() % 127));
    const std::string said = member_of(changed, "b");
    EXPECT_NE(said, "y") << i;
  }
}

TEST_F(TarArchive, AnyBytesEndInAnErrorOrInText) {
  std::mt19937_64 random(8);
  const std::string archive =
      tar_entry("a", lines_of_numbers(50)) + tar_entry("b", lines_of_numbers(60)) + kTarEnd;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = archive;
    for (auto n = 1 + random() % 8; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    EXPECT_LE(member_of(bytes, "b").size(), std::size_t{1} << 16);
  }
  EXPECT_NE(member_of("this is no archive\n", "b"), "");
}

}  // namespace tandem
