#include "base/file_hash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

TEST(FileHash, IsThatOfTheWholeContents) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  for (const std::size_t size : {0, 1, 262'143, 262'144, 262'145, 1'000'000}) {
    std::string contents(size, '\0');
    for (std::size_t i = 0; i < size; ++i) contents[i] = static_cast<char>(i * i >> 7);
    atomic_write(path, contents);
    const FileHash found = hash_file(path);
    EXPECT_EQ(found.bytes, size);
    EXPECT_EQ(found.hash, hash64(contents)) << size;
  }
}

TEST(FileHash, ABlockThatCannotBeReadIsAnErrorThatNamesTheFile) {
  const fs::path unreadable = "/proc/self/mem";  // nothing is mapped where it begins: EIO
  try {
    hash_file(unreadable);
    FAIL() << "it was read";
  } catch (const EnvError& error) {
    EXPECT_NE(std::string(error.what()).find(unreadable), std::string::npos) << error.what();
  }
}

TEST(FileHash, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path :
       {folder.path(), folder.path() / "absent", pipe, fs::path("/dev/zero")}) {
    EXPECT_THROW(hash_file(path), UserError) << path;
  }
}

}  // namespace
}  // namespace tandem
