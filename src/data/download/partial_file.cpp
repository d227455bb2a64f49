#include "data/download/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

[[noreturn]] void throw_failed(std::string_view action, const fs::path& path, int error_number) {
  if (error_number != ENOSPC && error_number != EDQUOT) throw_cannot(action, path, error_number);
  throw EnvError(
      format("cannot {} {}: {}; make room and run the same command again, it goes on where it "
             "stopped",
             action, path.string(), errno_text(error_number)));
}

fs::path with_suffix(fs::path path, std::string_view suffix) {
  path += suffix;
  return path;
}

// One "key value" a line. Header values have no line breaks; what does not read as written is
// treated as absent, which costs a new start and nothing else.
std::string to_text(const Origin& origin) {
  return format("url {}\netag {}\nlast-modified {}\ntotal {}\n", origin.url, origin.etag,
                origin.last_modified, origin.total ? format("{}", *origin.total) : "");
}

Origin from_text(std::string_view text) {
  Origin origin;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view key = line.substr(0, line.find(' '));
    const std::string_view value = line.substr(std::min(line.size(), key.size() + 1));
    if (key == "url") origin.url = value;
    if (key == "etag") origin.etag = value;
    if (key == "last-modified") origin.last_modified = value;
    std::uint64_t total = 0;
    if (key == "total" &&
        std::from_chars(value.data(), value.data() + value.size(), total).ec == std::errc{}) {
      origin.total = total;
    }
  }
  return origin;
}

}  // namespace

PartialFile::PartialFile(fs::path target)
    : target_(std::move(target)),
      part_(with_suffix(target_, ".part")),
      state_(with_suffix(target_, ".part.state")) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(part_, ignored)) ||
      !fs::is_regular_file(fs::symlink_status(state_, ignored))) {
    return;
  }
  origin_ = from_text(read_file(state_));
  open_part(0);
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) throw_failed("look at", part_, errno);
  size_ = static_cast<std::uint64_t>(info.st_size);
}

PartialFile::~PartialFile() {
  std::error_code ignored;
  if (size_ == 0 && fd_.get() >= 0) {
    fs::remove(part_, ignored);
    fs::remove(state_, ignored);
  }
}

// O_NOFOLLOW: a link planted under this name must not lead the bytes out of the folder.
void PartialFile::open_part(int extra_flags) {
  fd_ = FileDescriptor(
      ::open(part_.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | extra_flags, 0644));
  if (fd_.get() < 0) throw_failed("write", part_, errno);
}

// In this order: killed anywhere in between, no bytes of one version stand beside the state of
// another.
void PartialFile::restart(const Origin& origin) {
  open_part(O_CREAT | O_TRUNC);
  size_ = 0;
  origin_ = origin;
  atomic_write(state_, to_text(origin));
}

void PartialFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_failed("write", part_, errno);
    size_ += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void PartialFile::sync() {
  if (::fsync(fd_.get()) != 0) throw_failed("sync", part_, errno);
}

void PartialFile::commit() {
  if (::rename(part_.c_str(), target_.c_str()) != 0) throw_failed("rename to", target_, errno);
  fd_ = FileDescriptor();
  std::error_code ignored;
  fs::remove(state_, ignored);
  sync_directory(target_.has_parent_path() ? target_.parent_path() : fs::path("."));
}

void PartialFile::discard() {
  fd_ = FileDescriptor();
  size_ = 0;
  origin_ = {};
  std::error_code ignored;
  fs::remove(part_, ignored);
  fs::remove(state_, ignored);
}

FileDescriptor lock_folder(const fs::path& folder) {
  FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw_failed("open", folder, errno);
  // Network file systems that cannot lock a folder answer otherwise: there we go on without.
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw EnvError(
        format("another tandem is downloading into {}; wait for it or name another --out",
               folder.string()));
  }
  return fd;
}

}  // namespace tandem
