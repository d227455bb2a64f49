#include "observe/samples_file.h"

#include <fstream>

#include "base/error.h"
#include "observe/sample_text.h"

namespace tandem {

void SamplesFile::on_samples(const SamplesRecord& record) {
  if (record.samples.empty()) return;
  std::ofstream out(path_, std::ios::app);
  out << format("step {}\n", record.step);
  for (const SampleTranslation& sample : record.samples) out << sample_text(sample) << "\n";
  if (!out.flush()) throw EnvError(format("cannot write {}", path_.string()));
}

}  // namespace tandem
