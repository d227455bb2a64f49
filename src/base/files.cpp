#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

[[noreturn]] void throw_env(std::string_view action, const fs::path& path, int error_number) {
  throw EnvError(format("cannot {} {}: {}", action, path.string(), errno_text(error_number)));
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_env("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

FileDescriptor open_new(const fs::path& path) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0) throw_env("create", path, errno);
  return fd;
}

void sync(int fd, const fs::path& path) {
  if (::fsync(fd) != 0) throw_env("sync", path, errno);
}

struct stat stat_of(int fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_env("look at", path, errno);
  return info;
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
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

FileDescriptor open_for_reading(const fs::path& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    throw UserError(format("cannot read {}: {}", path.string(), errno_text(errno)));
  }
  if (S_ISDIR(stat_of(fd.get(), path).st_mode)) {
    throw UserError(format("cannot read {}: it is a directory, not a file", path.string()));
  }
  return fd;
}

std::string read_file(const fs::path& path) {
  const FileDescriptor fd = open_for_reading(path);
  std::string contents;
  char block[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_env("read", path, errno);
    if (n == 0) return contents;
    contents.append(block, static_cast<std::size_t>(n));
  }
}

void sync_directory(const fs::path& directory) {
  const FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw_env("open", directory, errno);
  sync(fd.get(), directory);
}

void atomic_write(const fs::path& path, std::string_view contents) {
  fs::path temporary = path;
  temporary += format(".{}.tmp", ::getpid());
  try {
    const FileDescriptor fd = open_new(temporary);
    write_all(fd.get(), contents, temporary);
    sync(fd.get(), temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw_env("rename to", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(parent_of(path));
}

MappedFile::MappedFile(const fs::path& path) {
  const FileDescriptor fd = open_for_reading(path);
  size_ = static_cast<std::size_t>(stat_of(fd.get(), path).st_size);
  if (size_ == 0) return;
  void* const address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) throw_env("map", path, errno);
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
    : path_(std::move(path)), fd_(open_new(path_)), buffer_bytes_(buffer_bytes) {
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
    throw_env("write", path_, errno);
  }
}

void FileWriter::finish() {
  flush();
  sync(fd_.get(), path_);
  if (::close(fd_.release()) != 0) throw_env("close", path_, errno);
}

StagedDirectory::StagedDirectory(fs::path target, bool replace) : target_(std::move(target)) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "data/" means "data"
  if (!replace && fs::exists(target_)) {
    throw UserError(format("{} exists already; name another folder", target_.string()));
  }
  const fs::path parent = parent_of(target_);
  std::error_code failed;
  fs::create_directories(parent, failed);
  if (failed) throw_env("create", parent, failed.value());

  staging_ = parent / format(".{}.partial", target_.filename().string());
  if (::mkdir(staging_.c_str(), 0755) != 0 && errno != EEXIST) {
    throw_env("create", staging_, errno);
  }
  lock_ = FileDescriptor(::open(staging_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.get() < 0) throw_env("open", staging_, errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    committed_ = true;  // not ours: leave it alone
    throw UserError(format("another process is writing {}; wait for it or name another folder",
                           target_.string()));
  }
  for (const auto& left_over : fs::directory_iterator(staging_)) fs::remove_all(left_over.path());
}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staging_, ignored);
}

void StagedDirectory::commit() {
  sync_directory(staging_);
  const bool exchange = fs::exists(target_);
  if (::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(),
                  exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) {
    throw_env("rename to", target_, errno);
  }
  committed_ = true;
  sync_directory(parent_of(target_));
  if (exchange) fs::remove_all(staging_);  // now the old one
}

}  // namespace tandem
