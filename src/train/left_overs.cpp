#include "train/left_overs.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/journal_protocol.h"
#include "train/retention.h"

namespace tandem {
namespace {

using IsOurs = std::function<bool(std::string_view target)>;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "X" of ".X.partial" and ".X.partial.old"; empty: it is named otherwise.
std::string_view target_of_staged(std::string_view name) {
  constexpr std::string_view kBegin = ".", kEnd = ".partial", kAside = ".old";
  if (name.ends_with(kAside)) name.remove_suffix(kAside.size());
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return {};
  if (name.size() <= kBegin.size() + kEnd.size()) return {};
  return name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
}

// "X" and "N" of "X.N.tmp"; empty: it is named otherwise.
struct TemporaryName {
  std::string_view target, thread;
};
TemporaryName split_temporary(std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.ends_with(kEnd)) return {};
  name.remove_suffix(kEnd.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !all_digits(name.substr(dot + 1))) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

bool names_checkpoint(std::string_view target) {
  return step_of_checkpoint(target).has_value();
}

// "0-step-00004000"
bool names_host_part(std::string_view target) {
  const std::size_t dash = target.find('-');
  return dash != std::string_view::npos && all_digits(target.substr(0, dash)) &&
         names_checkpoint(target.substr(dash + 1));
}

// Who reads a run writes these at any time, without its lock.
bool names_report(std::string_view target) {
  return target == "report.html" || target == "report.json";
}

bool lives(std::string_view thread) {
  std::error_code unknown;
  return fs::exists(fs::path("/proc") / thread, unknown);
}

// First all names, then the deed: a folder that changes while it is listed may be listed wrongly.
std::vector<fs::path> entries_of(const fs::path& folder, fs::file_type type) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unknown;
    if (entry->symlink_status(unknown).type() == type) found.push_back(entry->path());
  }
  return found;
}

// StagedDirectory holds its folder locked for as long as it writes there.
void delete_unless_written(const fs::path& staged) {
  const FileDescriptor fd(::open(staged.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0) return;
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return;
  std::error_code ignored;
  fs::remove_all(staged, ignored);
}

// Who was killed while one folder took another's place left more than half a folder: one that is
// whole is not to be deleted.
bool is_finished(const fs::path& target) try {
  return finish_exchange(target);
} catch (const Error&) {
  return false;
}

void delete_left_staged(const fs::path& folder, const IsOurs& is_ours) {
  for (const fs::path& path : entries_of(folder, fs::file_type::directory)) {
    const std::string name = path.filename().string();
    const std::string_view target = target_of_staged(name);
    if (target.empty() || !is_ours(target)) continue;
    if (is_finished(folder / target)) delete_unless_written(path);
  }
}

void delete_left_temporary(const fs::path& folder, const IsOurs& is_ours) {
  for (const fs::path& path : entries_of(folder, fs::file_type::regular)) {
    const std::string name = path.filename().string();
    const auto [target, thread] = split_temporary(name);
    if (target.empty() || !is_ours(target)) continue;
    if (names_report(target) && lives(thread)) continue;
    std::error_code ignored;
    fs::remove(path, ignored);
  }
}

}  // namespace

void delete_left_overs(const RunFolder& run) {
  const auto names = [](const fs::path& path, std::string_view target) {
    return path.filename().string() == target;
  };
  delete_left_staged(run.root(), [&](auto target) { return names(run.model(), target); });
  delete_left_staged(run.best(), [](auto target) { return best_of_name(target).has_value(); });
  delete_left_staged(run.hosts(), names_host_part);
  delete_left_staged(run.exports(), [](auto) { return true; });  // all in there is made by tandem
  delete_left_checkpoints(run.checkpoints());
  delete_left_temporary(run.checkpoints(),
                        [&](auto target) { return names(run.latest(), target); });
  delete_left_temporary(run.root(), [&](auto target) {
    return names(run.config(), target) || target == kJournalMark || names_report(target);
  });
}

void delete_left_checkpoints(const fs::path& folder, std::string_view prefix) {
  delete_left_staged(folder, [&](std::string_view target) {
    return target.starts_with(prefix) && names_checkpoint(target.substr(prefix.size()));
  });
}

}  // namespace tandem
