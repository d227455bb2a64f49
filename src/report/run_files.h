// run_files: what lies in a run's directory besides the journal, for the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace tandem {

struct RunFile {
  std::string name;
  std::uint64_t bytes = 0;
};

// The newest checkpoint's files, by name; empty when there is none.
struct NewestCheckpoint {
  std::string name;  // "step-00040000"
  std::vector<RunFile> files;
  std::uint64_t bytes() const;
};
NewestCheckpoint newest_checkpoint(const fs::path& run);

// The run's name for people: the last part of its path.
std::string run_name(const fs::path& run);
// The same of several: as many of the last parts as tell them apart, as "a/r" and "b/r".
std::vector<std::string> run_names(const std::vector<fs::path>& runs);

}  // namespace tandem
