// sample_text: how a sample translation is shown to people.
#pragma once

#include <string>

#include "base/format.h"
#include "observe/records.h"

namespace tandem {

inline std::string sample_text(const SampleTranslation& sample) {
  return format("  source     {}\n  reference  {}\n  hypothesis {}", sample.source,
                sample.reference, sample.hypothesis);
}

}  // namespace tandem
