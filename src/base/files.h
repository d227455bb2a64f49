// files: whole files in, whole files out. What is written appears complete under its name or not at
// all. Errors name the path: a file the user named wrongly is a UserError, a failing disk an
// EnvError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tandem {

namespace fs = std::filesystem;

// An open file descriptor, closed when it goes away.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// Throws what the system said about a path, e.g. "cannot create a/b: a is not a directory". A
// UserError where only another name helps (a file in place of a folder or the other way round, a
// name that is too long), else an EnvError.
[[noreturn]] void throw_cannot(std::string_view action, const fs::path& path, int error_number);

// Opens a file that the user named; directories and missing files are the user's mistake. A pipe
// is waited for; a signal ends that (Interrupted).
FileDescriptor open_for_reading(const fs::path& path);
// One that tandem wrote: a pipe or a device in its place is refused at once.
FileDescriptor open_regular_file(const fs::path& path);

// Whole files. What is larger than anything we write there is refused before it fills the memory.
inline constexpr std::uint64_t kMostFileBytes = 1 << 28, kAnyFileBytes = ~std::uint64_t{0};
std::string read_file(const fs::path& path, std::uint64_t most = kMostFileBytes);
std::string read_regular_file(const fs::path& path, std::uint64_t most = kMostFileBytes);

// A file of ours that grows or stays, made where it is missing; flags: as of open(2). A link under
// its name is refused: it would lead what is written out of the folder.
FileDescriptor open_own_file(const fs::path& path, int flags);

void write_all(int fd, std::string_view bytes, const fs::path& path);  // path: for the error

// Replaces path by contents: temporary file, fsync, rename, fsync of the folder.
void atomic_write(const fs::path& path, std::string_view contents);

// Before long work whose result is written to a file that the user named: throws where
// atomic_write() would fail already now.
void check_can_write(const fs::path& path);

void sync_directory(const fs::path& directory);

// A folder and those above it, where they are missing; their names are durable, too.
void make_directories(const fs::path& directory);

// A read-only mapping of a whole file. An empty file gives an empty span.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A buffered writer of one new file. finish() makes it durable; without it the file is not to be
// trusted.
class FileWriter {
 public:
  explicit FileWriter(fs::path path, std::size_t buffer_bytes = 1 << 20);
  FileWriter(FileWriter&&) noexcept = default;
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }
  void overwrite_start(std::span<const std::byte> bytes);  // a header known only at the end
  void finish();
  std::uint64_t size() const { return size_; }

 private:
  void flush();
  fs::path path_;
  FileDescriptor fd_;
  std::string buffer_;
  std::size_t buffer_bytes_;
  std::uint64_t size_ = 0;
};

// A folder that appears under its final name with all its files or not at all.
// Files are written to path(), which is `.X.partial` for a target X; commit() renames. Left-overs
// of a killed process are removed by the next one.
class StagedDirectory {
 public:
  // An existing target is refused, now and in commit(), unless replace is set.
  StagedDirectory(fs::path target, bool replace);
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;
  ~StagedDirectory();
  const fs::path& path() const { return staging_; }
  void commit();

 private:
  void remove_left_overs() const;
  fs::path target_;
  bool replace_;
  fs::path staging_;
  FileDescriptor lock_;  // two writers of one target: the second is refused (NFS cannot tell)
  bool committed_ = false;
};

// Where names cannot be exchanged in one step (NFS), commit() moves a folder that it replaces
// aside, to `.X.partial.old`. After a kill in between this puts the new one in its place; without
// one, the old one. Then nothing lies aside any more. False: its writer lives.
bool finish_exchange(const fs::path& target);

}  // namespace tandem
