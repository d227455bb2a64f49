#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/format.h"
#include "train/left_overs.h"
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
    throw_cannot("list", parent, failed.value());
  }
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
  for (const fs::path& folder : {run.log(0).parent_path(), run.checkpoints(), run.best(),
                                 run.tensorboard(), run.hosts(), run.exports()}) {
    if (!fs::is_symlink(fs::symlink_status(folder))) continue;
    throw UserError(
        format("{} is a link, and nothing is written outside a run's folder: remove it; "
               "where disks are small, set run= to a folder on a larger one",
               folder.string()));
  }
  make_directories(run.log(0).parent_path());
}

RunLock::RunLock(const RunFolder& run) {
  make_run_folders(run);
  make_directories(run.checkpoints());
  make_directories(run.best());
  const fs::path path = run.root() / ".lock";
  fd_ = open_own_file(path, O_RDWR);
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
  delete_left_overs(run);
}

}  // namespace tandem
