#include "data/download/checksum_list.h"

#include <gtest/gtest.h>

namespace tandem {

TEST(ChecksumList, ReadsBackWhatItWrites) {
  const ChecksumList sums{{"a.gz", std::string(64, 'a')}, {"b c.gz", std::string(64, '0')}};
  EXPECT_EQ(parse_checksums(checksums_text(sums)), sums);
}

TEST(ChecksumList, ReadsBinaryModeAndWindowsLinesAndPassesOverTheRest) {
  const std::string hash(64, 'c');
  const auto sums = parse_checksums("# comment\n" + hash + " *x\r\n\n" + hash + "\n" + hash +
                                    "  \nABC  y\n" + hash + "  z");
  EXPECT_EQ(sums, (ChecksumList{{"x", hash}, {"z", hash}}));
}

}  // namespace tandem
