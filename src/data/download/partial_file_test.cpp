#include "data/download/partial_file.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem {
namespace {

const Origin kFileOrigin{"http://h/f?x=1 2", "\"v 1\"", "Tue, 01 Jan 2019 00:00:00 GMT", 6};

class PartialFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  static void add(PartialFile& part, std::string_view text) {
    part.append(std::as_bytes(std::span{text}));
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / "partial_file_test";
  const fs::path target_ = folder_ / "f.gz";
};

}  // namespace

TEST_F(PartialFileTest, ALaterProcessFindsBytesAndOrigin) {
  {
    PartialFile part(target_);
    part.restart(kFileOrigin);
    add(part, "abc");
  }
  PartialFile part(target_);
  EXPECT_EQ(part.size(), 3u);
  EXPECT_EQ(part.origin(), kFileOrigin);
  add(part, "def");
  part.sync();
  EXPECT_FALSE(fs::exists(target_));
  part.commit();
  EXPECT_EQ(read_file(target_), "abcdef");
  EXPECT_EQ(files(), 1u);
}

TEST_F(PartialFileTest, RestartDropsTheBytesOfTheOldVersion) {
  PartialFile part(target_);
  part.restart(kFileOrigin);
  add(part, "old bytes");
  part.restart({"http://h/f", "\"v2\"", "", std::nullopt});
  EXPECT_EQ(part.size(), 0u);
  add(part, "new");
  EXPECT_EQ(read_file(part.path()), "new");
}

TEST_F(PartialFileTest, BytesWithoutAStateAreNotUsed) {
  atomic_write(fs::path(target_.string() + ".part"), "who knows");
  PartialFile part(target_);
  EXPECT_EQ(part.size(), 0u);
  EXPECT_EQ(part.origin(), Origin{});
}

TEST_F(PartialFileTest, ADamagedStateIsAnUnknownOrigin) {
  for (const char* damaged : {"", "\n\n", "total", "total -5\netag", "url"}) {
    atomic_write(fs::path(target_.string() + ".part"), "who knows");
    atomic_write(fs::path(target_.string() + ".part.state"), damaged);
    const PartialFile part(target_);
    EXPECT_EQ(part.origin(), Origin{}) << damaged;
  }
}

TEST_F(PartialFileTest, NothingIsLeftOfAnEmptyOrDiscardedDownload) {
  {
    PartialFile part(target_);
    part.restart(kFileOrigin);
  }
  EXPECT_EQ(files(), 0u);
  {
    PartialFile part(target_);
    part.restart(kFileOrigin);
    add(part, "abc");
    part.discard();
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(PartialFileTest, ALinkUnderThePartsNameIsNotFollowed) {
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::create_symlink(elsewhere, target_.string() + ".part");
  PartialFile part(target_);
  EXPECT_THROW(part.restart(kFileOrigin), EnvError);
  EXPECT_FALSE(fs::exists(elsewhere));
}

TEST_F(PartialFileTest, AFolderIsLockedOnce) {
  const FileDescriptor lock = lock_folder(folder_);
  EXPECT_THROW(lock_folder(folder_), EnvError);
}

}  // namespace tandem
