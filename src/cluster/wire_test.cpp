#include "cluster/wire.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

TEST(Wire, WhatIsWrittenReadsBack) {
  const std::string text("a\0b", 3);
  const std::string bytes = WireWriter()
                                .u8(255)
                                .u32(0xfffffffe)
                                .i64(std::numeric_limits<std::int64_t>::min())
                                .text(text)
                                .raw("xy")
                                .take();
  WireReader reader(bytes);
  EXPECT_EQ(reader.u8(), 255);
  EXPECT_EQ(reader.u32(), 0xfffffffe);
  EXPECT_EQ(reader.i64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(reader.text(), text);
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(reader.raw(2), "xy");
  EXPECT_TRUE(reader.complete());
}

TEST(Wire, EveryCutIsNoticedAndReadsNothingBehindTheEnd) {
  const std::string bytes = WireWriter().u8(1).text("key").i64(7).take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);  // a copy of its own, so that ASan sees beyond
    WireReader reader(cut);
    reader.u8();
    reader.text();
    EXPECT_EQ(reader.i64(), 0);
    EXPECT_FALSE(reader.ok()) << size;
  }
}

TEST(Wire, ALengthBeyondTheEndIsNoText) {
  WireReader reader(
      std::string_view("\xff\xff\xff\xff"
                       "abc",
                       7));
  EXPECT_EQ(reader.text(), "");
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace tandem
