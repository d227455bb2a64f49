#include "train/left_overs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/format.h"
#include "base/temporary_folder.h"
#include "train/checkpoint_store.h"

namespace tandem {
namespace {

class LeftOvers : public testing::Test {
 protected:
  void plant_folder(const fs::path& path) {
    fs::create_directories(folder_.path() / path / "inside");
    std::ofstream(folder_.path() / path / "half") << "half";
  }
  void plant_file(const fs::path& path) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << "half";
  }
  // Without what lies in folders with a dot.
  std::set<std::string> all() const {
    std::set<std::string> found;
    for (fs::recursive_directory_iterator at(folder_.path()), end; at != end; ++at) {
      found.insert(at->path().lexically_relative(folder_.path()));
      if (at->path().filename().string().front() == '.') at.disable_recursion_pending();
    }
    return found;
  }

  const TemporaryFolder folder_;
  const RunFolder run_{folder_.path()};
};

TEST_F(LeftOvers, OfAKilledSaveAreGoneWhenTheNextStarts) {
  { const RunLock makes_the_folders(run_); }
  fs::create_directories(run_.hosts());
  fs::create_directories(run_.exports());
  const auto whole = all();
  for (const char* name : {".model.partial", "checkpoints/.step-00000003.partial",
                           "best/.val_loss=1.6316-step-40000.partial",
                           "hosts/.1-step-00000003.partial", "export/.ctranslate2.partial"}) {
    plant_folder(name);
  }
  for (const char* name : {"config.yaml.99.tmp", "checkpoints/latest.123.tmp",
                           ".journal-home.7.tmp", "report.html.999999999.tmp"}) {
    plant_file(name);
  }
  const RunLock next(run_);
  EXPECT_EQ(all(), whole);
}

TEST_F(LeftOvers, WhatARunDoesNotNameSoStays) {
  { const RunLock makes_the_folders(run_); }
  for (const char* name :
       {".mine.partial", "model.partial", "..partial", "checkpoints/.mine.partial",
        "checkpoints/.step-x.partial", "checkpoints/step-00000003", "best/.step-00000003.partial",
        "hosts/.step-00000003.partial", "hosts/.a-step-3.partial", "config.yaml.98.tmp",
        ".mine.partial.old", "checkpoints/.step-00000003.old"}) {
    plant_folder(name);
  }
  for (const char* name : {"mine.99.tmp", "config.yaml.tmp", "config.yaml.a.tmp", "config.yaml",
                           "99.tmp", "checkpoints/latest", "checkpoints/config.yaml.99.tmp",
                           "checkpoints/.step-00000004.partial", ".tmp"}) {
    plant_file(name);
  }
  fs::create_directory_symlink(run_.root() / "model.partial", run_.root() / ".model.partial");
  const auto before = all();
  { const RunLock next(run_); }
  EXPECT_EQ(all(), before);
  EXPECT_TRUE(fs::exists(run_.root() / "model.partial" / "half"));
}

TEST_F(LeftOvers, WhatIsBeingWrittenStays) {
  StagedDirectory arriving(run_.checkpoint(7), true);
  std::ofstream(arriving.path() / "half") << "half";
  plant_file(format("report.html.{}.tmp", ::gettid()));
  const auto before = all();
  delete_left_overs(run_);
  EXPECT_EQ(all(), before);
  EXPECT_TRUE(fs::exists(arriving.path() / "half"));
  arriving.commit();
  EXPECT_TRUE(fs::exists(run_.checkpoint(7) / "half"));
}

TEST_F(LeftOvers, AFolderThatWasBeingReplacedByMovesIsPutInItsPlace) {
  { const RunLock makes_the_folders(run_); }
  plant_folder(".model.partial");  // killed between the moves
  fs::rename(run_.root() / ".model.partial", run_.root() / ".model.partial.old");
  plant_file(".model.partial/new");
  plant_folder("checkpoints/.step-00000003.partial.old");  // killed after them
  plant_file("checkpoints/step-00000003/new");
  plant_folder("hosts/.1-step-00000003.partial.old");  // the new one is gone
  { const RunLock next(run_); }
  EXPECT_TRUE(fs::exists(run_.model() / "new"));
  EXPECT_TRUE(fs::exists(run_.checkpoint(3) / "new"));
  EXPECT_FALSE(fs::exists(run_.checkpoint(3) / "half"));
  EXPECT_TRUE(fs::exists(run_.hosts() / "1-step-00000003" / "half"));
  for (const std::string& path : all()) EXPECT_EQ(path.find("partial"), std::string::npos) << path;
}

TEST_F(LeftOvers, OfOneHostAreNotAnothers) {
  plant_folder("hosts/.1-step-00000003.partial");
  plant_folder("hosts/.11-step-00000003.partial");
  delete_left_checkpoints(run_.hosts(), "1-");
  EXPECT_EQ(all(), (std::set<std::string>{"hosts", "hosts/.11-step-00000003.partial"}));
}

TEST_F(LeftOvers, OfAHostThatIsSentCheckpointsAreGoneWithTheNextOneThatIsKept) {
  plant_folder("checkpoints/.step-00000003.partial");
  plant_folder("checkpoints/step-00000007");
  delete_old_checkpoints(run_, 1, 7);
  EXPECT_FALSE(fs::exists(run_.checkpoints() / ".step-00000003.partial"));
  EXPECT_TRUE(fs::exists(run_.checkpoint(7)));
}

TEST_F(LeftOvers, AFolderThatIsMissingHasNone) {
  delete_left_overs(RunFolder(folder_.path() / "absent"));
  EXPECT_TRUE(all().empty());
}

}  // namespace
}  // namespace tandem
