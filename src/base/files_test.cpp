#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

class Files : public testing::Test {
 protected:
  Files() { fs::create_directories(dir_); }
  ~Files() override { fs::remove_all(dir_); }
  void put(const fs::path& path, std::string_view contents) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << contents;
  }
  // Names of everything below the folder, hidden ones too.
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir_)) {
      all.insert(fs::relative(entry.path(), dir_).string());
    }
    return all;
  }

  const fs::path dir_ = testing::TempDir() + format("files_test.{}", ::getpid());
};

using StagedFolder = Files;
using Names = std::set<std::string>;

void kill_me() {
  ::kill(::getpid(), SIGKILL);
}

// Runs an action that ends by kill_me() in a process of its own.
void run_until_killed(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      action();
    } catch (...) {
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the action itself failed";
}

// Runs an action in a child process that may write no file larger than a limit; its exit code.
int run_with_file_limit(std::size_t bytes, const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // so that write() fails, as on a full disk
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_F(Files, WhatIsWrittenIsReadBack) {
  const std::string contents = std::string(200'000, 'x') + std::string("\0\xff\n", 3);
  atomic_write(dir_ / "a", contents);
  EXPECT_EQ(read_file(dir_ / "a"), contents);
  atomic_write(dir_ / "a", "");
  EXPECT_EQ(read_file(dir_ / "a"), "");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  put(dir_ / "a", "old");
  for (const std::size_t limit : {0, 1, 4096, 99'999}) {
    const int code = run_with_file_limit(limit, [&] {
      try {
        atomic_write(dir_ / "a", std::string(100'000, 'n'));
        return 0;
      } catch (const EnvError& error) {  // one sentence that names the file, not the temporary one
        return std::string(error.what()) ==
                       format("cannot write {}/a: File too large", dir_.string())
                   ? 3
                   : 4;
      }
    });
    EXPECT_EQ(code, 3);
    EXPECT_EQ(read_file(dir_ / "a"), "old");
    EXPECT_EQ(names(), Names{"a"});
  }
}

TEST_F(Files, AFailedRenameLeavesNothingBehind) {
  fs::create_directories(dir_ / "a" / "in the way");
  EXPECT_THROW(atomic_write(dir_ / "a", "new"), UserError);
  EXPECT_EQ(names(), (Names{"a", "a/in the way"}));
  EXPECT_THROW(atomic_write(dir_ / "no folder" / "a", "new"), EnvError);
}

TEST_F(Files, FoldersAreMadeWithThoseAboveThem) {
  make_directories(dir_ / "a" / "b" / "c");
  make_directories(dir_ / "a" / "b" / "d" / "");
  make_directories(dir_ / "a" / "b");  // there already
  EXPECT_EQ(names(), (Names{"a", "a/b", "a/b/c", "a/b/d"}));
  fs::create_directory_symlink("a", dir_ / "link");
  make_directories(dir_ / "link" / "e");
  EXPECT_TRUE(fs::is_directory(dir_ / "a" / "e"));
  make_directories(fs::relative(dir_ / "f" / "g"));
  EXPECT_TRUE(fs::is_directory(dir_ / "f" / "g"));
  put(dir_ / "file", "");
  EXPECT_THROW(make_directories(dir_ / "file"), UserError);
  EXPECT_THROW(make_directories(dir_ / "file" / "h"), UserError);
  EXPECT_THROW(make_directories(""), EnvError);
}

TEST_F(Files, ReadersOfAFileThatIsRewrittenSeeOneOfTheWholeVersions) {
  const std::string versions[] = {std::string(50'000, 'a'), std::string(80'000, 'b')};
  atomic_write(dir_ / "a", versions[0]);
  {
    std::vector<std::jthread> writers;  // two at once, too
    for (const std::string& version : versions) {
      writers.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) atomic_write(dir_ / "a", version);
      });
    }
    for (int i = 0; i < 300; ++i) {
      const std::string seen = read_file(dir_ / "a");
      ASSERT_TRUE(seen == versions[0] || seen == versions[1]) << seen.size();
    }
  }
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Files, AWrongNameIsTheUsersMistake) {
  EXPECT_THROW(read_file(dir_ / "absent"), UserError);
  EXPECT_THROW(read_file(dir_), UserError);
  EXPECT_THROW(MappedFile(dir_ / "absent"), UserError);
  put(dir_ / "a", "");
  EXPECT_THROW(read_file(dir_ / "a" / "b"), UserError);
}

TEST_F(Files, WhatIsInTheWayOfAWriterIsNamedAndTheUsersMistake) {
  put(dir_ / "file", "");
  fs::create_directories(dir_ / "folder");
  const std::string at = dir_.string(), is_a_folder = ": it is a directory, not a file";
  const auto refusal = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no mistake of the user";
  };
  EXPECT_EQ(refusal([&] { atomic_write(dir_ / "folder", ""); }),
            format("cannot write {}/folder{}", at, is_a_folder));
  EXPECT_EQ(refusal([&] { FileWriter writer(dir_ / "folder"); }),
            format("cannot create {}/folder{}", at, is_a_folder));
  EXPECT_EQ(refusal([&] { make_directories(dir_ / "file"); }),
            format("cannot create {}/file: it is not a directory", at));
  EXPECT_EQ(refusal([&] { make_directories(dir_ / "file" / "b" / "c"); }),
            format("cannot create {0}/file/b/c: {0}/file is not a directory", at));
  const std::string too_long(300, 'x');
  const std::string too_long_text = format("cannot create {}/{}: File name too long", at, too_long);
  EXPECT_EQ(refusal([&] { make_directories(dir_ / too_long); }), too_long_text);
  EXPECT_EQ(refusal([&] { atomic_write(dir_ / too_long, ""); }), too_long_text);
  EXPECT_EQ(refusal([&] { StagedDirectory staged(dir_ / too_long, true); }), too_long_text);
}

TEST_F(Files, WhereAFileCannotBeWrittenIsKnownBeforeAnyWork) {
  put(dir_ / "file", "old");
  fs::create_directories(dir_ / "folder");
  const Names before = names();
  check_can_write(dir_ / "file");
  check_can_write(dir_ / "new");
  EXPECT_THROW(check_can_write(dir_ / "folder"), UserError);
  EXPECT_THROW(check_can_write(dir_ / "no folder" / "new"), UserError);
  EXPECT_THROW(check_can_write(dir_ / "file" / "new"), UserError);
  EXPECT_THROW(check_can_write(dir_ / std::string(300, 'x')), UserError);
  EXPECT_THROW(check_can_write("/proc/new"), Error);  // where even root makes no files
  EXPECT_EQ(names(), before);
  EXPECT_EQ(read_file(dir_ / "file"), "old");
}

TEST_F(Files, NoMoreDescriptorsAreTheEnvironmentsFailure) {
  put(dir_ / "a", "");
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_THROW(open_for_reading(dir_ / "a"), EnvError);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(Files, APipeInPlaceOfAFileOfOursIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(open_regular_file(dir_ / "pipe"), UserError);
  EXPECT_THROW(read_regular_file(dir_ / "pipe"), UserError);
  EXPECT_THROW(MappedFile(dir_ / "pipe"), UserError);
  EXPECT_THROW(read_regular_file("/dev/zero"), UserError);
  EXPECT_THROW(read_regular_file(dir_), UserError);
  EXPECT_THROW(read_regular_file(dir_ / "absent"), UserError);
  put(dir_ / "a", "abc");
  EXPECT_EQ(read_regular_file(dir_ / "a"), "abc");
}

TEST_F(Files, APipeOfTheUserIsWaitedForUntilASignalComes) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  struct sigaction before {
  }, ours{};
  ours.sa_handler = [](int) {};  // as StopSignals: without SA_RESTART
  ::sigaction(SIGUSR1, &ours, &before);
  std::atomic<bool> over = false;
  const pthread_t reader = ::pthread_self();
  {
    const std::jthread sender([&] {
      while (!over) {
        ::pthread_kill(reader, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    EXPECT_THROW(open_for_reading(dir_ / "pipe"), Interrupted);
    over = true;
  }
  ::sigaction(SIGUSR1, &before, nullptr);
  const std::jthread writer([&] { put(dir_ / "pipe", "text"); });
  EXPECT_EQ(read_file(dir_ / "pipe"), "text");
}

TEST_F(Files, AMappedFileShowsTheBytes) {
  put(dir_ / "a", "abc");
  put(dir_ / "empty", "");
  MappedFile a(dir_ / "a");
  EXPECT_EQ(a.bytes().size(), 3U);
  EXPECT_EQ(static_cast<char>(a.bytes()[2]), 'c');
  MappedFile empty(dir_ / "empty");
  EXPECT_TRUE(empty.bytes().empty());
  empty = std::move(a);
  EXPECT_EQ(empty.bytes().size(), 3U);
  const MappedFile moved(std::move(empty));
  EXPECT_EQ(static_cast<char>(moved.bytes()[0]), 'a');
}

TEST_F(Files, AWriterKeepsOrderForPiecesOfAnySize) {
  for (const std::size_t buffer : {1, 7, 64}) {
    std::string expected;
    FileWriter writer(dir_ / "a", buffer);
    for (std::size_t n : {0, 1, 3, 6, 7, 8, 0, 200, 2, 64, 65, 63}) {
      const std::string piece(n, static_cast<char>('a' + n % 26));
      writer.write(piece);
      expected += piece;
    }
    EXPECT_EQ(writer.size(), expected.size());
    writer.finish();
    EXPECT_EQ(read_file(dir_ / "a"), expected) << buffer;
  }
}

TEST_F(Files, AWriterReportsAFullDisk) {
  FileWriter writer("/dev/full", 16);
  writer.write("fits");
  try {
    writer.write("does not fit any more");
    writer.finish();
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
  }
  FileWriter small("/dev/full");
  small.write("only in the buffer");
  EXPECT_THROW(small.finish(), EnvError);
}

TEST_F(StagedFolder, AppearsWithAllItsFilesAtOnce) {
  {
    StagedDirectory staged(dir_ / "new" / "data/", /*replace=*/false);
    put(staged.path() / "x", "1");
    put(staged.path() / "sub" / "y", "2");
    EXPECT_FALSE(fs::exists(dir_ / "new" / "data"));
    staged.commit();
  }
  EXPECT_EQ(names(), (Names{"new", "new/data", "new/data/x", "new/data/sub", "new/data/sub/y"}));
}

TEST_F(StagedFolder, LeavesNothingWithoutCommit) {
  put(dir_ / "data" / "old", "");
  for (const bool replace : {false, true}) {
    StagedDirectory staged(dir_ / (replace ? "data" : "other"), replace);
    put(staged.path() / "x", "1");
  }
  EXPECT_EQ(names(), (Names{"data", "data/old"}));
}

TEST_F(StagedFolder, ReplaceSwapsTheWholeFolder) {
  put(dir_ / "data" / "old", "");
  StagedDirectory staged(dir_ / "data", /*replace=*/true);
  put(staged.path() / "new", "");
  EXPECT_TRUE(fs::exists(dir_ / "data" / "old"));
  staged.commit();
  EXPECT_EQ(names(), (Names{"data", "data/new"}));
}

TEST_F(StagedFolder, AnExistingTargetIsRefusedAtOnceAndInTheEnd) {
  put(dir_ / "data" / "old", "");
  EXPECT_THROW(StagedDirectory(dir_ / "data", false), UserError);
  {
    StagedDirectory staged(dir_ / "late", false);
    put(dir_ / "late" / "of somebody else", "");
    EXPECT_THROW(staged.commit(), EnvError);
  }
  EXPECT_EQ(names(), (Names{"data", "data/old", "late", "late/of somebody else"}));
}

TEST_F(StagedFolder, OnlyAFolderIsReplaced) {
  put(dir_ / "file", "precious");
  fs::create_directory_symlink(dir_, dir_ / "link");
  fs::create_symlink("nowhere", dir_ / "dangling");
  const Names before = names();
  for (const char* name : {"file", "link", "dangling", ".", "..", "link/.."}) {
    EXPECT_THROW(StagedDirectory(dir_ / name, true), UserError) << name;
  }
  EXPECT_THROW(StagedDirectory("/", true), UserError);
  EXPECT_THROW(StagedDirectory("", true), UserError);
  EXPECT_EQ(names(), before);
}

TEST_F(StagedFolder, AKilledWriterLeavesTheTargetAndTheNextOneCleansUp) {
  put(dir_ / "data" / "old", "");
  run_until_killed([&] {
    const StagedDirectory staged(dir_ / "data", true);
    put(staged.path() / "half", "");
    put(staged.path() / "sub" / "half", "");
    kill_me();
  });
  EXPECT_TRUE(fs::exists(dir_ / "data" / "old"));
  EXPECT_TRUE(fs::exists(dir_ / ".data.partial" / "half"));
  StagedDirectory next(dir_ / "data", true);
  EXPECT_TRUE(fs::is_empty(next.path()));
  put(next.path() / "new", "");
  next.commit();
  EXPECT_EQ(names(), (Names{"data", "data/new"}));
}

TEST_F(StagedFolder, ASecondWriterIsRefusedAndDisturbsNothing) {
  StagedDirectory first(dir_ / "data", false);
  put(first.path() / "x", "");
  EXPECT_THROW(StagedDirectory(dir_ / "data", false), UserError);
  EXPECT_TRUE(fs::exists(first.path() / "x"));
  first.commit();
  EXPECT_EQ(names(), (Names{"data", "data/x"}));
}

TEST_F(StagedFolder, WhatAKillLeftOfTwoMovesIsFinishedByTheNextOne) {
  const fs::path staging = dir_ / ".data.partial", aside = dir_ / ".data.partial.old";
  const auto finished = [&] { return finish_exchange(dir_ / "data"); };
  EXPECT_TRUE(finished()) << "nothing lies aside";
  put(staging / "new", "");
  put(aside / "old", "");
  EXPECT_THROW(StagedDirectory(dir_ / "data", false), UserError) << "it is there";
  EXPECT_EQ(names(), (Names{"data", "data/new"}));
  put(aside / "old", "");
  EXPECT_TRUE(finished());
  EXPECT_EQ(names(), (Names{"data", "data/new"}));
  fs::rename(dir_ / "data", aside);
  EXPECT_TRUE(finished());
  EXPECT_EQ(names(), (Names{"data", "data/new"}));
}

TEST_F(StagedFolder, MovesOfALivingWriterAreLeftToIt) {
  StagedDirectory living(dir_ / "data", true);
  put(living.path() / "new", "");
  put(dir_ / ".data.partial.old" / "old", "");  // it is between them
  const Names before = names();
  EXPECT_FALSE(finish_exchange(dir_ / "data"));
  EXPECT_THROW(StagedDirectory(dir_ / "data", true), UserError);
  EXPECT_EQ(names(), before);
}

TEST_F(StagedFolder, APlantedLinkIsNotFollowed) {
  put(dir_ / "home" / "precious", "");
  fs::create_directory_symlink(dir_ / "home", dir_ / ".data.partial");
  EXPECT_THROW(StagedDirectory(dir_ / "data", false), UserError);
  EXPECT_TRUE(fs::exists(dir_ / "home" / "precious"));
}

TEST_F(StagedFolder, ManyWritersTakeTurnsOrAreRefused) {
  // Every folder that appears is whole: both files are of the same writer.
  std::atomic<int> commits = 0;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < 100; ++i) {
          try {
            StagedDirectory staged(dir_ / "data", true);
            put(staged.path() / "a", format("{} {}", writer, i));
            put(staged.path() / "b", format("{} {}", writer, i));
            staged.commit();
            ++commits;
          } catch (const UserError&) {  // another one is writing
          }
        }
      });
    }
  }
  EXPECT_GT(commits, 0);
  EXPECT_EQ(read_file(dir_ / "data" / "a"), read_file(dir_ / "data" / "b"));
  EXPECT_EQ(names(), (Names{"data", "data/a", "data/b"}));
}

}  // namespace tandem
