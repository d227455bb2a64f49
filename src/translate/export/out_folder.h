// out_folder: where an export goes, and whether what is there is replaced.
#pragma once

#include "base/files.h"

namespace tandem {

struct OutFolder {
  fs::path path;
  bool replace = false;
};

}  // namespace tandem
