#include "observe/samples_file.h"

#include <fcntl.h>

#include "observe/sample_text.h"

namespace tandem {

void SamplesFile::on_samples(const SamplesRecord& record) {
  if (record.samples.empty()) return;
  std::string text = format("step {}\n", record.step);
  for (const SampleTranslation& sample : record.samples) text += sample_text(sample) + "\n";
  const FileDescriptor file = open_own_file(path_, O_WRONLY | O_APPEND);
  write_all(file.get(), text, path_);
}

}  // namespace tandem
