#include "translate/export/ctranslate2_file.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace tandem {
namespace {

TEST(Ctranslate2File, IsByteForByteWhatTheFormatSays) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  Ctranslate2File file(false);
  file.array("v", {{2}, values});
  file.flag("f", true);
  file.int16_scalar("n", -2);
  file.alias("w", "v");
  file.write(folder.path() / "model.bin", "M", 7);
  const std::string expected(
      "\x06\0\0\0"
      "\x02\0M\0"
      "\x07\0\0\0"
      "\x03\0\0\0"
      "\x02\0v\0"
      "\x01"
      "\x02\0\0\0"
      "\0"
      "\x08\0\0\0"
      "\0\0\x80\x3f\0\0\0\x40"
      "\x02\0f\0"
      "\0"
      "\x01"
      "\x01\0\0\0"
      "\x01"
      "\x02\0n\0"
      "\0"
      "\x02"
      "\x02\0\0\0"
      "\xfe\xff"
      "\x01\0\0\0"
      "\x02\0w\0"
      "\x02\0v\0",
      4 + 4 + 4 + 4 + 22 + 11 + 12 + 12);
  EXPECT_EQ(read_file(folder.path() / "model.bin"), expected);
}

TEST(Ctranslate2File, EightBitsScaleEachRowByItsLargestValue) {
  const TemporaryFolder folder;
  const std::vector<float> values{0.5, -1, 0, 0};
  Ctranslate2File file(true);
  file.matrix("w", {{2, 2}, values});
  file.write(folder.path() / "model.bin", "M", 7);
  const std::string bytes = read_file(folder.path() / "model.bin");
  EXPECT_NE(bytes.find(std::string("\x40\x81\0\0", 4)),
            std::string::npos);  // 64 (63.5 to even), -127
  const float scales[] = {127, 1};
  EXPECT_NE(bytes.find(std::string(reinterpret_cast<const char*>(scales), sizeof scales)),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
