#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

// Whether only another name helps, whatever is done to the machine.
bool is_wrong_name(int error_number) {
  return error_number == ENOTDIR || error_number == EISDIR || error_number == ENAMETOOLONG;
}

// Whether it is the user's mistake to name it as a file to be read.
bool is_not_to_be_read(int error_number) {
  return is_wrong_name(error_number) || error_number == ENOENT || error_number == EACCES ||
         error_number == EPERM || error_number == ELOOP;
}

// The first part of a path that is no folder but must be one; the path itself where none is found.
fs::path part_in_the_way(const fs::path& path) {
  fs::path at;
  for (const fs::path& part : path) {
    at /= part;
    std::error_code unknown;
    const fs::file_status status = fs::status(at, unknown);
    if (fs::exists(status) && !fs::is_directory(status)) return at;
  }
  return path;
}

// The system's word, but "Not a directory" does not tell which part of the path is meant.
std::string reason_text(const fs::path& path, int error_number) {
  if (error_number == EISDIR) return "it is a directory, not a file";
  if (error_number != ENOTDIR) return errno_text(error_number);
  const fs::path part = part_in_the_way(path);
  return format("{} is not a directory", part == path ? "it" : part.string());
}

std::string cannot_text(std::string_view action, const fs::path& path, int error_number) {
  return format("cannot {} {}: {}", action, path.string(), reason_text(path, error_number));
}

// A signal that the program hears wakes an open, too, where the disk is a network's.
FileDescriptor open_again(const fs::path& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

// named: what the user knows it by, for the error.
FileDescriptor open_new(const fs::path& path, const fs::path& named) {
  FileDescriptor fd = open_again(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
  if (fd.get() < 0) throw_cannot("create", named, errno);
  return fd;
}

// Two threads may write the same file.
fs::path temporary_of(fs::path path) {
  path += format(".{}.tmp", ::gettid());
  return path;
}

bool is_there(const fs::path& path) {  // a link to nothing, too
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

bool is_folder(const fs::path& path) {  // a link is none
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

struct stat stat_of(int fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_cannot("look at", path, errno);
  return info;
}

// Whether path still names the folder that fd has open.
bool is_same(int fd, const fs::path& path) {
  struct stat named {};
  if (::lstat(path.c_str(), &named) != 0) return false;
  const struct stat opened = stat_of(fd, path);
  return named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

enum class Lock { ours, taken, gone };

// Opens a folder and locks it. File systems without locks on folders (NFS) let everybody in.
Lock lock_folder(const fs::path& path, FileDescriptor& fd) {
  fd = open_again(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd.get() < 0 && errno == ENOENT) return Lock::gone;
  if (fd.get() < 0) throw_cannot("open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return Lock::taken;
  return is_same(fd.get(), path) ? Lock::ours : Lock::gone;
}

void move(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw_cannot("rename to", to, errno);
}

// A replaced folder waits here where a file system cannot exchange names (NFS).
fs::path aside_of(fs::path staging) {
  staging += ".old";
  return staging;
}

// Puts a folder in the place of another one; returns where that is then.
fs::path exchange(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return from;
  if (errno != EINVAL) throw_cannot("rename to", to, errno);
  const fs::path aside = aside_of(from);  // NFS: of a kill from here on finish_exchange() knows
  move(to, aside);
  try {
    move(from, to);
  } catch (...) {
    move(aside, to);
    throw;
  }
  return aside;
}

// Renames a folder; throws when the new name is taken.
void rename_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno != EINVAL) throw_cannot("rename to", to, errno);
  if (is_there(to)) throw_cannot("rename to", to, EEXIST);  // NFS again
  move(from, to);
}

void sync(int fd, const fs::path& path) {
  if (::fsync(fd) != 0) throw_cannot("sync", path, errno);
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

fs::path staging_of(const fs::path& target) {
  return parent_of(target) / format(".{}.partial", target.filename().string());
}

// Whether somebody writes in a folder; if not, nobody begins to while the lock is held.
bool is_written(const fs::path& path, FileDescriptor& lock) {
  return is_folder(path) && lock_folder(path, lock) == Lock::taken;
}

std::string read_whole(int fd, const fs::path& path, std::uint64_t most) {
  std::string contents;
  char block[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_cannot("read", path, errno);
    if (n == 0) return contents;
    contents.append(block, static_cast<std::size_t>(n));
    if (contents.size() > most) {
      throw UserError(
          format("{} has more than {} bytes, which no such file needs", path.string(), most));
    }
  }
}

[[noreturn]] void throw_cannot_read(const fs::path& path, int error_number) {
  if (is_not_to_be_read(error_number)) throw UserError(cannot_text("read", path, error_number));
  throw_cannot("read", path, error_number);
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

void throw_cannot(std::string_view action, const fs::path& path, int error_number) {
  const std::string text = cannot_text(action, path, error_number);
  if (is_wrong_name(error_number)) throw UserError(text);
  throw EnvError(text);
}

FileDescriptor open_for_reading(const fs::path& path) {
  std::error_code unknown;
  const bool waits = fs::is_fifo(path, unknown);  // for a writer, until a signal comes
  FileDescriptor fd = waits ? FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))
                            : open_again(path, O_RDONLY);
  if (fd.get() < 0 && waits && errno == EINTR) {
    throw Interrupted(format("stopped before anybody wrote to the pipe {}", path.string()));
  }
  if (fd.get() < 0) throw_cannot_read(path, errno);
  if (S_ISDIR(stat_of(fd.get(), path).st_mode)) throw_cannot("read", path, EISDIR);
  return fd;
}

FileDescriptor open_regular_file(const fs::path& path) {
  FileDescriptor fd = open_again(path, O_RDONLY | O_NONBLOCK);
  if (fd.get() < 0) throw_cannot_read(path, errno);
  const mode_t mode = stat_of(fd.get(), path).st_mode;
  if (S_ISDIR(mode)) throw_cannot("read", path, EISDIR);
  if (!S_ISREG(mode)) {
    throw UserError(format("cannot read {}: it is a device or a pipe, not a file", path.string()));
  }
  return fd;
}

std::string read_file(const fs::path& path, std::uint64_t most) {
  return read_whole(open_for_reading(path).get(), path, most);
}

std::string read_regular_file(const fs::path& path, std::uint64_t most) {
  return read_whole(open_regular_file(path).get(), path, most);
}

FileDescriptor open_own_file(const fs::path& path, int flags) {
  FileDescriptor fd = open_again(path, flags | O_CREAT | O_NOFOLLOW);
  if (fd.get() < 0 && errno == ELOOP) {
    throw UserError(format("{} is a link, and nothing is written outside its folder: remove it",
                           path.string()));
  }
  if (fd.get() < 0) throw_cannot("write", path, errno);
  return fd;
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_cannot("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync_directory(const fs::path& directory) {
  const FileDescriptor fd = open_again(directory, O_RDONLY | O_DIRECTORY);
  if (fd.get() < 0) throw_cannot("open", directory, errno);
  sync(fd.get(), directory);
}

void make_directories(const fs::path& directory) {
  std::vector<fs::path> parents;  // those that get a name
  for (fs::path at = directory; !is_there(at) && at != parent_of(at); at = parent_of(at)) {
    parents.push_back(parent_of(at));
  }
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw_cannot("create", directory, failed.value());
  for (const fs::path& parent : parents) sync_directory(parent);
}

void atomic_write(const fs::path& path, std::string_view contents) {
  const fs::path temporary = temporary_of(path);
  try {
    const FileDescriptor fd = open_new(temporary, path);
    write_all(fd.get(), contents, path);
    sync(fd.get(), path);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw_cannot("write", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(parent_of(path));
}

void check_can_write(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) throw_cannot("write", path, EISDIR);
  if (const fs::path folder = parent_of(path); !fs::exists(folder, unknown) && !unknown) {
    throw UserError(
        format("cannot write {}: there is no folder {}", path.string(), folder.string()));
  }
  const fs::path temporary = temporary_of(path);
  open_new(temporary, path);
  ::unlink(temporary.c_str());
}

MappedFile::MappedFile(const fs::path& path) {
  const FileDescriptor fd = open_regular_file(path);
  size_ = static_cast<std::size_t>(stat_of(fd.get(), path).st_size);
  if (size_ == 0) return;
  void* const address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) throw_cannot("map", path, errno);
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

FileWriter::FileWriter(fs::path path, std::size_t buffer_bytes)
    : path_(std::move(path)), fd_(open_new(path_, path_)), buffer_bytes_(buffer_bytes) {
  buffer_.reserve(buffer_bytes_);
}

void FileWriter::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes_) flush();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() > buffer_bytes_) {
    write_all(fd_.get(), text, path_);
  } else {
    buffer_.append(text);
  }
  size_ += bytes.size();
}

void FileWriter::flush() {
  write_all(fd_.get(), buffer_, path_);
  buffer_.clear();
}

void FileWriter::overwrite_start(std::span<const std::byte> bytes) {
  flush();
  if (::pwrite(fd_.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw_cannot("write", path_, errno);
  }
}

void FileWriter::finish() {
  flush();
  sync(fd_.get(), path_);
  if (::close(fd_.release()) != 0) throw_cannot("close", path_, errno);
}

bool finish_exchange(const fs::path& target) {
  const fs::path staging = staging_of(target), aside = aside_of(staging);
  if (!is_folder(aside)) return true;
  FileDescriptor locks[2];
  if (is_written(aside, locks[0]) || is_written(staging, locks[1])) return false;
  // The new one was complete when the moves began.
  if (!is_there(target)) move(is_folder(staging) ? staging : aside, target);
  std::error_code failed;
  fs::remove_all(aside, failed);
  if (failed) throw_cannot("delete", aside, failed.value());
  sync_directory(parent_of(target));
  return true;
}

StagedDirectory::StagedDirectory(fs::path target, bool replace)
    : target_(std::move(target)), replace_(replace) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "data/" means "data"
  const fs::path name = target_.filename();
  if (name.empty() || name == "." || name == "..") {
    throw UserError(format("{} cannot be written as a whole; name a new folder", target_.string()));
  }
  finish_exchange(target_);  // before it is asked whether the target is there
  if (!replace_ && is_there(target_)) {
    throw UserError(format("{} exists already; name another folder", target_.string()));
  }
  if (is_there(target_) && !fs::is_directory(fs::symlink_status(target_))) {
    throw UserError(format("{} is a file or a link; name a folder", target_.string()));
  }
  make_directories(parent_of(target_));

  staging_ = staging_of(target_);
  Lock lock = Lock::gone;
  while (lock == Lock::gone) {  // another process finished, and took it away, before we had it
    if (::mkdir(staging_.c_str(), 0755) != 0 && errno != EEXIST) {
      throw_cannot("create", target_, errno);
    }
    lock = lock_folder(staging_, lock_);
  }
  if (lock == Lock::ours && is_folder(aside_of(staging_))) {  // who put it there removes it still
    ::rmdir(staging_.c_str());
    lock = Lock::taken;
  }
  if (lock == Lock::taken) {
    throw UserError(format("another process is writing {}; wait for it or name another folder",
                           target_.string()));
  }
  remove_left_overs();
}

void StagedDirectory::remove_left_overs() const {
  std::error_code failed;
  for (fs::directory_iterator entry(staging_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    fs::remove_all(entry->path(), failed);
    if (failed) break;
  }
  if (failed) throw_cannot("clear", staging_, failed.value());
}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staging_, ignored);
}

void StagedDirectory::commit() {
  sync_directory(staging_);
  const bool swap = replace_ && is_there(target_);
  FileDescriptor lock;
  fs::path old;
  if (swap) {
    lock_folder(target_, lock);  // or a next writer would take it for left-overs while we remove it
    old = exchange(staging_, target_);
  } else {
    rename_new(staging_, target_);
  }
  committed_ = true;
  sync_directory(parent_of(target_));
  std::error_code ignored;  // what is left of the old one, the next writer removes
  if (swap) fs::remove_all(old, ignored);
}

}  // namespace tandem
