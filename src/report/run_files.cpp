#include "report/run_files.h"

#include <algorithm>

namespace tandem {

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
  std::error_code failed;
  fs::path whole = fs::absolute(run, failed).lexically_normal();
  if (whole.filename() == "journal.jsonl") whole = whole.parent_path();
  if (whole.filename().empty()) whole = whole.parent_path();
  return whole.filename().string();
}

}  // namespace tandem
