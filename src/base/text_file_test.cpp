#include "base/text_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/test_gzip.h"

namespace tandem {
namespace {

constexpr std::size_t kBlock = 1 << 18;  // LineReader's own

using Lines = std::vector<std::string>;

// What the lines are by definition: the slow, obvious twin.
Lines lines_by_definition(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

class TextFile : public testing::Test {
 protected:
  fs::path file(std::string_view contents) const {
    std::ofstream(path_, std::ios::binary) << contents;
    return path_;
  }
  Lines lines_of(std::string_view contents, std::size_t max_line_bytes = 1 << 20) const {
    LineReader reader(file(contents), max_line_bytes);
    return read_all(reader);
  }
  static Lines read_all(LineReader& reader) {
    Lines lines;
    std::string_view line;
    while (reader.next(line)) lines.emplace_back(line);
    return lines;
  }
  std::string error_of(std::string_view contents) const {
    try {
      lines_of(contents);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  // Through a pipe that delivers the pieces one by one.
  Lines lines_of_pieces(const Lines& pieces) const {
    EXPECT_EQ(::mkfifo(fifo_.c_str(), 0600), 0);
    std::jthread writer([&] {
      const FileDescriptor out(::open(fifo_.c_str(), O_WRONLY));
      for (const std::string& piece : pieces) {
        EXPECT_EQ(::write(out.get(), piece.data(), piece.size()),
                  static_cast<ssize_t>(piece.size()));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    LineReader reader(fifo_);
    Lines lines = read_all(reader);
    fs::remove(fifo_);
    return lines;
  }
  ~TextFile() override {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  const fs::path path_ = testing::TempDir() + format("text_file_test.{}", ::getpid());
  const fs::path fifo_ = testing::TempDir() + format("text_file_test.{}.fifo", ::getpid());
};

}  // namespace

TEST_F(TextFile, ALineEndsWithNewlineOnly) {
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), Lines{""});
  EXPECT_EQ(lines_of("a"), Lines{"a"});
  EXPECT_EQ(lines_of("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\n\nb\n"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\r\nb\rc\r\r\n"), (Lines{"a", "b\rc\r"}));
  EXPECT_EQ(lines_of("a\xE2\x80\xA8z\nb\x0Bz\x0C\xC2\x85\n"),  // U+2028, VT, FF, U+0085
            (Lines{"a\xE2\x80\xA8z", "b\x0Bz\x0C\xC2\x85"}));
  EXPECT_EQ(lines_of(std::string_view("a\0b\n\0", 5)), (Lines{{"a\0b", 3}, {"\0", 1}}));
}

TEST_F(TextFile, ABomIsPassedOverAtTheStartOfTheFileOnly) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"), Lines{});
  EXPECT_EQ(lines_of("\xEF\xBB\xBF\n"), Lines{""});
  EXPECT_EQ(lines_of("\xEF\xBB\xBFx\n\xEF\xBB\xBFy"), (Lines{"x", "\xEF\xBB\xBFy"}));
  EXPECT_EQ(lines_of("\xEF\xBB"), Lines{"\xEF\xBB"});
  EXPECT_EQ(lines_of(gzip("\xEF\xBB\xBFx\n")), Lines{"x"});
}

TEST_F(TextFile, APipeMayCutAnywhere) {
  EXPECT_EQ(lines_of_pieces({"\xEF", "\xBB", "\xBF", "a\r", "\nb"}), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of_pieces({"\xEF\xBB\xBF", "\n"}), Lines{""});
  EXPECT_EQ(lines_of_pieces({"\xEF", "x\n"}), Lines{"\xEFx"});
  const std::string packed = gzip("\xEF\xBB\xBFone\ntwo\n");
  EXPECT_EQ(lines_of_pieces({packed.substr(0, 1), packed.substr(1, 20), packed.substr(21)}),
            (Lines{"one", "two"}));
}

TEST_F(TextFile, LinesAcrossTheBorderOfBlocksAreWhole) {
  for (const std::string end : {"\n", "\r\n"}) {
    for (std::size_t before = kBlock - 12; before <= kBlock + 4; ++before) {
      const std::string text = std::string(before - end.size(), 'x') + end + "short" + end + end +
                               std::string(kBlock, 'y') + end + "last";
      ASSERT_EQ(lines_of(text), lines_by_definition(text)) << before;
      ASSERT_EQ(lines_of(gzip(text)), lines_by_definition(text)) << before;
    }
  }
}

TEST_F(TextFile, RandomFilesAgreeWithTheDefinition) {
  std::mt19937_64 random(3);
  const std::vector<std::string> words = {"a",
                                          "\n",
                                          "\r",
                                          "\r\n",
                                          "\xEF\xBB\xBF",
                                          "\xC3\xA4",
                                          " ",
                                          std::string(1, '\0'),
                                          std::string(30'000, 'z')};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n) text += words[random() % words.size()];
    const Lines expected = lines_by_definition(text);
    ASSERT_EQ(lines_of(text), expected) << "round " << round;
    ASSERT_EQ(lines_of(gzip(text)), expected) << "round " << round;
  }
}

TEST_F(TextFile, LongLinesAreCutAtTheLimitAndSaySo) {
  LineReader reader(file("12345\r\n12345\n123456\n1234\r6\n\n123456"), 5);
  std::vector<std::pair<std::string, bool>> seen;
  std::string_view line;
  while (reader.next(line)) seen.emplace_back(line, reader.was_cut());
  const std::vector<std::pair<std::string, bool>> expected = {{"12345", false}, {"12345", false},
                                                              {"12345", true},  {"1234\r", true},
                                                              {"", false},      {"12345", true}};
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(reader.line_number(), 6U);
}

TEST_F(TextFile, ACutIsNeverInsideACharacter) {
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";  // a, ä, €, an emoji, z
  const std::vector<std::size_t> kept = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (std::size_t limit = 0; limit < kept.size(); ++limit) {
    EXPECT_EQ(lines_of(text, limit).front(), text.substr(0, kept[limit])) << limit;
  }
  EXPECT_EQ(lines_of("\x80\x80\x80\x80\x80", 4).front(),
            "\x80\x80\x80\x80");  // not UTF-8: as it is
}

TEST_F(TextFile, AHugeLineNeedsLittleMemory) {
  {
    std::ofstream out(path_, std::ios::binary);
    const std::string megabyte(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) out << megabyte;
    out << "\nnext\n";
  }
  const auto peak_kib = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before = peak_kib();
  LineReader reader(path_);
  const Lines lines = read_all(reader);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].size(), std::size_t{1} << 20);
  EXPECT_EQ(lines[1], "next");
  EXPECT_LT(peak_kib() - before, 16 << 10);
}

TEST_F(TextFile, AGzipFileMayHaveSeveralMembers) {
  EXPECT_EQ(lines_of(gzip("a\nb") + gzip("") + gzip("c\n") + gzip("d")), (Lines{"a", "bc", "d"}));
  EXPECT_EQ(lines_of(gzip("")), Lines{});
  EXPECT_EQ(lines_of(gzip("") + gzip("")), Lines{});
}

TEST_F(TextFile, AGzipFileCutAnywhereIsRefused) {
  std::string text;
  std::mt19937_64 random(5);
  for (int i = 0; i < 40'000; ++i) text += format("{}\n", random());
  const std::string packed = gzip(text);
  ASSERT_GT(packed.size(), kBlock);
  std::vector<std::size_t> cuts = {kBlock - 1, kBlock, kBlock + 1};
  for (std::size_t n = 2; n < 40; ++n) cuts.insert(cuts.end(), {n, packed.size() + 1 - n});
  for (int i = 0; i < 60; ++i) cuts.push_back(2 + random() % (packed.size() - 2));
  for (const std::size_t n : cuts) {
    ASSERT_EQ(error_of(packed.substr(0, n)), path_.string() + ": the gzip file is cut short") << n;
  }
}

TEST_F(TextFile, DamageInAGzipFileIsFoundAndNamed) {
  const std::string packed = gzip("some text that is long enough to be worth packing, packing\n");
  const std::string damaged = path_.string() + ": the gzip file is damaged";
  EXPECT_TRUE(error_of(packed + "trailing garbage").starts_with(damaged));
  for (std::size_t i = 10; i < packed.size(); ++i) {  // the header's time and system do not matter
    std::string flipped = packed;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    EXPECT_NE(error_of(flipped), "") << i;
  }
}

TEST_F(TextFile, ProgressIsMeasuredOnDiskAndTextUnpacked) {
  const std::string text = "\xEF\xBB\xBF" + std::string(100'000, 'x') + "\n";
  const std::string packed = gzip(text);
  LineReader reader(file(packed));
  EXPECT_EQ(read_all(reader).size(), 1U);
  EXPECT_EQ(reader.bytes_read(), packed.size());
  EXPECT_EQ(reader.text_bytes(), text.size());
}

TEST_F(TextFile, AMissingFileOrADirectoryIsTheUsersMistake) {
  EXPECT_THROW(LineReader{path_}, UserError);
  EXPECT_THROW(LineReader{testing::TempDir()}, UserError);
}

}  // namespace tandem
