// sample_text: how a sample translation is shown to people. Its text is somebody's.
#pragma once

#include <string>

#include "base/format.h"
#include "base/utf8.h"
#include "observe/records.h"

namespace tandem {

inline std::string sample_text(const SampleTranslation& sample) {
  return format("  source     {}\n  reference  {}\n  hypothesis {}",
                without_controls(sample.source), without_controls(sample.reference),
                without_controls(sample.hypothesis));
}

}  // namespace tandem
