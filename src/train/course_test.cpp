#include "train/course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "train/checkpoint_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// A checkpoint of a run that had gone back so often.
fs::path checkpoint_after(const fs::path& folder, std::int64_t rollbacks) {
  const FlatParams layout({{"weight", {3}}}, at::kCPU);
  const Tensor values = at::zeros_like(layout.values());
  const fs::path path = folder / "step-00000120";
  write_checkpoint(path, layout, {values, values, values, {}},
                   Json::object().set("step", 120).set("rollbacks", rollbacks));
  return path;
}

TEST(Course, WhatTheRunWentBackFromDoesNotStay) {
  const TemporaryFolder folder;
  Course course;
  const fs::path before = checkpoint_after(folder.path(), 0);
  EXPECT_EQ(course.problem(before, 120), "");
  course.went_back(100, 1);
  EXPECT_EQ(course.problem(before, 120), "the run went back from step 120 meanwhile");
  EXPECT_EQ(course.problem(before, 99), "") << "it is older than what the run goes on from";
  EXPECT_EQ(course.problem(checkpoint_after(folder.path(), 1), 120), "") << "of the new course";
  course.went_back(80, 2);
  EXPECT_NE(course.problem(before, 120), "");
}

TEST(Course, DamageIsNamedFirst) {
  const TemporaryFolder folder;
  Course course;
  course.went_back(100, 1);
  EXPECT_THAT(course.problem(folder.path(), 120), HasSubstr("MANIFEST"));
}

}  // namespace
}  // namespace tandem
