// samples_file: samples.txt, the same few sentences again and again as the model learns them. A
// resumed run goes on in the same file.
#pragma once

#include "base/files.h"
#include "observe/observer.h"

namespace tandem {

class SamplesFile final : public Observer {
 public:
  explicit SamplesFile(fs::path path) : path_(std::move(path)) {}
  void on_eval(const EvalRecord& record) override { on_samples({record.step, record.samples}); }
  void on_samples(const SamplesRecord& record) override;

 private:
  fs::path path_;
};

}  // namespace tandem
