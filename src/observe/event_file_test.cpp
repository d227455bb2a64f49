#include "observe/event_file.h"

#include <gtest/gtest.h>

#include "base/protobuf.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

TEST(EventFile, ARecordIsFramedAsTensorBoardDoes) {
  // From TensorBoard's own writer: the version record of a file, wall time 0.
  const std::string record = ProtobufMessage().float64(1, 0).bytes(3, "brain.Event:2").text();
  const std::string frame = event_frame(record);
  ASSERT_EQ(frame.size(), record.size() + 16);
  EXPECT_EQ(frame.substr(0, 8), std::string("\x18\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(frame.substr(12, record.size()), record);
}

TEST(EventFile, AnEventHasItsScalarsAndTexts) {
  const std::string message =
      serialized({12.5, 7, {{"train/loss", 2.5}, {"train/lr", 0.1}}, {{"settings", "    a: 1"}}});
  std::int64_t step = 0;
  std::string_view summary;
  ASSERT_TRUE(for_each_field(message, [&](const ProtobufField& f) {
    if (f.number == 2) step = static_cast<std::int64_t>(f.integer);
    if (f.number == 5) summary = f.bytes;
  }));
  EXPECT_EQ(step, 7);
  std::vector<std::string> tags;
  ASSERT_TRUE(for_each_field(summary, [&](const ProtobufField& value) {
    EXPECT_TRUE(for_each_field(value.bytes, [&](const ProtobufField& f) {
      if (f.number == 1) tags.emplace_back(f.bytes);
    }));
  }));
  EXPECT_EQ(tags, (std::vector<std::string>{"train/loss", "train/lr", "settings"}));
}

TEST(EventFile, EveryStartHasAFileOfItsOwnWhateverTheHostIsCalled) {
  const TemporaryFolder folder;
  const EventFile first(folder.path(), "../../x\n<b>", 100), second(folder.path(), "h", 100);
  EXPECT_NE(first.path(), second.path());
  EXPECT_EQ(first.path().parent_path(), folder.path());
  EXPECT_TRUE(fs::exists(first.path()) && fs::exists(second.path()));
}

}  // namespace
}  // namespace tandem
