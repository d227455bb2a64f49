// file_hash: size and hash of a file, read block by block. A mapping would do it faster where all
// is well, but a block that the disk cannot give back ends a process that mapped it; here it is an
// EnvError that names the file.
#pragma once

#include <cstdint>

#include "base/files.h"

namespace tandem {

struct FileHash {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  // hash64() of the contents
};

// What has no end of its own (a device, a pipe) is a UserError.
FileHash hash_file(const fs::path& path);

}  // namespace tandem
