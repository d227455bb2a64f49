#include "observe/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>

#include "base/protobuf.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

// The scalar that ends a Value message.
float last_float(std::string_view message) {
  float value = 0;
  std::memcpy(&value, message.data() + message.size() - sizeof value, sizeof value);
  return value;
}

// Tag and step to value, of all scalars of a folder's only file; a later one replaces an earlier.
std::map<std::pair<std::string, std::int64_t>, float> scalars_in(const fs::path& folder) {
  std::map<std::pair<std::string, std::int64_t>, float> out;
  const std::string file = read_file(fs::directory_iterator(folder)->path());
  std::uint64_t length = 0;
  for (std::size_t at = 0; at < file.size(); at += 16 + length) {
    std::memcpy(&length, file.data() + at, sizeof length);
    std::int64_t step = 0;
    for_each_field(std::string_view(file).substr(at + 12, length), [&](const ProtobufField& f) {
      if (f.number == 2) step = static_cast<std::int64_t>(f.integer);
      if (f.number != 5) return;
      for_each_field(f.bytes, [&](const ProtobufField& value) {
        std::string tag;
        for_each_field(value.bytes, [&](const ProtobufField& part) {
          if (part.number == 1) tag = part.bytes;
        });
        out[{tag, step}] = last_float(value.bytes);
      });
    });
  }
  return out;
}

StepRecord step(std::int64_t number, double loss) {
  StepRecord record;
  record.step = number;
  record.loss = loss;
  record.tokens = 10;
  return record;
}

TEST(TensorBoard, WhatARollbackSupersedesIsInNoLaterPoint) {
  const TemporaryFolder folder;
  TensorBoard board(folder.path(), "h", [] { return 1.0; });
  board.on_run({});
  // Points are two steps apart from step 2000 on.
  for (std::int64_t number = 2001; number <= 2003; ++number) board.on_step(step(number, 9));
  board.on_run({.resumed_from = 2001});
  for (std::int64_t number = 2002; number <= 2004; ++number) board.on_step(step(number, 1));
  const auto found = scalars_in(folder.path());
  EXPECT_EQ(found.at({"train/loss", 2002}), 1);
  EXPECT_EQ(found.at({"train/loss", 2004}), 1);
}

TEST(TensorBoard, SamplesBeforeTheFirstStepOfAResumedRunStandWhereItGoesOn) {
  const TemporaryFolder folder;
  TensorBoard board(folder.path(), "h", [] { return 1.0; });
  board.on_run({.resumed_from = 300});
  SystemRecord sample;
  sample.host = "h";
  board.on_system(sample);
  const auto found = scalars_in(folder.path());
  EXPECT_TRUE(found.contains({"system/cpu", 300}));
  EXPECT_FALSE(found.contains({"system/cpu", 0}));
}

}  // namespace
}  // namespace tandem
