#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/format.h"
#include "train/retention.h"

namespace tandem {
namespace {

template <class Visit>
void each_folder(const fs::path& parent, Visit visit) {
  std::error_code failed;
  for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unknown;
    if (entry->is_directory(unknown)) visit(entry->path());
  }
  if (failed && failed != std::errc::no_such_file_or_directory) {
    throw EnvError(format("cannot list {}: {}", parent.string(), failed.message()));
  }
}

void make(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw EnvError(format("cannot create {}: {}", folder.string(), failed.message()));
}

}  // namespace

fs::path RunFolder::checkpoint(std::int64_t step) const {
  return checkpoints() / checkpoint_name(step);
}

std::map<std::int64_t, fs::path> RunFolder::list_checkpoints() const {
  std::map<std::int64_t, fs::path> found;
  each_folder(checkpoints(), [&](const fs::path& folder) {
    if (const auto step = step_of_checkpoint(folder.filename().string())) found[*step] = folder;
  });
  return found;
}

std::map<fs::path, BestModel> RunFolder::list_best() const {
  std::map<fs::path, BestModel> found;
  each_folder(best(), [&](const fs::path& folder) {
    if (const auto model = best_of_name(folder.filename().string())) found[folder] = *model;
  });
  return found;
}

void make_run_folders(const RunFolder& run) {
  make(run.log(0).parent_path());
}

RunLock::RunLock(const RunFolder& run) {
  make_run_folders(run);
  make(run.checkpoints());
  make(run.best());
  const fs::path path = run.root() / ".lock";
  fd_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (fd_.get() < 0) {
    throw EnvError(format("cannot write {}: {}", path.string(), errno_text(errno)));
  }
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return;  // a file system without locks (old NFS) lets everybody in
    std::string holder = read_file(path);
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    throw UserError(format("{} is in use by process {}; wait for it, stop it, or set another run=",
                           run.root().string(), holder.empty() ? "?" : holder));
  }
  const std::string text = format("{}\n", ::getpid());
  if (::ftruncate(fd_.get(), 0) != 0 ||
      ::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw EnvError(format("cannot write {}: {}", path.string(), errno_text(errno)));
  }
}

}  // namespace tandem
