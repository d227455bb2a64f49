#include "data/text_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

class TextOfFiles : public testing::Test {
 protected:
  TextPlace file(const std::string& name, std::string_view contents) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << contents;
    return {folder_.path() / name, ""};
  }
  static std::vector<std::string> lines_of(std::vector<TextPlace> places) {
    TextFiles files;
    files.places = std::move(places);
    TextReader reader(files);
    std::vector<std::string> lines;
    for (std::string_view line; reader.next(line);) lines.emplace_back(line);
    return lines;
  }
  using Strings = std::vector<std::string>;
  TemporaryFolder folder_;
};

}  // namespace

TEST_F(TextOfFiles, FollowEachOtherAndNoLineSpansTwo) {
  const auto a = file("a", "one\ntwo"), b = file("b", ""), c = file("c", "three\n\n");
  EXPECT_EQ(lines_of({a, b, c}), (Strings{"one", "two", "three", ""}));
  TextFiles files;
  files.places = {a, c};
  TextReader reader(files);
  for (std::string_view line; reader.next(line);) {
  }
  EXPECT_EQ(reader.text_bytes(), 14U);
  EXPECT_EQ(files.name(), a.file.string() + " + " + c.file.string());
}

TEST_F(TextOfFiles, OfAnSgmFileTheSegmentsAreTheLines) {
  const auto sgm = file("x.sgm",
                        "<srcset setid=\"newstest2014\" srclang=\"any\">\n<doc docid=\"1\">\n<p>\n"
                        "<seg id=\"1\">A dog &amp; a  cat .</seg>\n"
                        "<seg id=\"2\"> 3 > 2 </seg> </p>\r\n<hl>\n<seg id=\"3\"></seg>\n</hl>\n"
                        "</doc>\n</srcset>\n");
  EXPECT_EQ(lines_of({sgm, file("plain", "end\n")}),
            (Strings{"A dog &amp; a cat .", "3 > 2", "", "end"}));
}

TEST_F(TextOfFiles, ASegmentThatDoesNotEndIsNamedByItsLine) {
  for (const char* text : {"<p>\n<seg id=\"1\">half\n", "<p>\n<seg id=\"1\"\n", "\n</seg><seg>x\n",
                           "\n<seg</seg>x>\n"}) {
    try {
      const auto lines = lines_of({file("x.sgm", text)});
      EXPECT_TRUE(lines.empty()) << text;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("x.sgm line 2: the segment"), std::string::npos);
    }
  }
  const std::string endless = "<seg id=\"1\">" + std::string(3 << 20, 'x') + "</seg>\n";
  EXPECT_EQ(lines_of({file("long.sgm", endless)}).size(), 1U);  // cut, as a long line is
}

}  // namespace tandem
