#include "report/run_files.h"

#include <algorithm>
#include <iterator>

namespace tandem {
namespace {

// Of a run that is named by its folder or by its journal.
fs::path folder_of(const fs::path& run) {
  std::error_code failed;
  fs::path whole = fs::absolute(run, failed).lexically_normal();
  if (whole.filename() == "journal.jsonl") whole = whole.parent_path();
  if (whole.filename().empty()) whole = whole.parent_path();
  return whole;
}

fs::path last_parts(const fs::path& path, std::ptrdiff_t count) {
  fs::path out;
  const std::ptrdiff_t all = std::distance(path.begin(), path.end());
  for (auto at = std::next(path.begin(), std::max<std::ptrdiff_t>(0, all - count));
       at != path.end(); ++at) {
    out /= *at;
  }
  return out;
}

}  // namespace

std::uint64_t NewestCheckpoint::bytes() const {
  std::uint64_t sum = 0;
  for (const RunFile& file : files) sum += file.bytes;
  return sum;
}

// Looks at names and sizes only; a folder that vanishes meanwhile is as if it had not been there.
NewestCheckpoint newest_checkpoint(const fs::path& run) {
  NewestCheckpoint newest;
  std::error_code failed;
  for (fs::directory_iterator entry(run / "checkpoints", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("step-") && fs::exists(entry->path() / "MANIFEST.json", failed)) {
      newest.name = std::max(newest.name, name);
    }
  }
  if (newest.name.empty()) return newest;
  failed.clear();
  for (fs::directory_iterator entry(run / "checkpoints" / newest.name, failed), end;
       !failed && entry != end; entry.increment(failed)) {
    std::error_code unknown;
    const std::uint64_t bytes = entry->file_size(unknown);
    if (!unknown) newest.files.push_back({entry->path().filename().string(), bytes});
  }
  std::ranges::sort(newest.files, {}, &RunFile::name);
  return newest;
}

std::string run_name(const fs::path& run) {
  return folder_of(run).filename().string();
}

std::vector<std::string> run_names(const std::vector<fs::path>& runs) {
  std::vector<fs::path> folders;
  for (const fs::path& run : runs) folders.push_back(folder_of(run));
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::ptrdiff_t parts = 1;
    const auto is_taken = [&](const fs::path& other) {
      return other != folder && last_parts(other, parts) == last_parts(folder, parts);
    };
    while (std::ranges::any_of(folders, is_taken)) ++parts;
    names.push_back(last_parts(folder, parts).string());
  }
  return names;
}

}  // namespace tandem
