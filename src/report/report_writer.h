// report_writer: an observer that writes the report when the run ends. It is added after the
// journal, which it reads.
#pragma once

#include "base/files.h"
#include "observe/observer.h"
#include "report/report_files.h"

namespace tandem {

class ReportWriter final : public Observer {
 public:
  explicit ReportWriter(fs::path run) : run_(std::move(run)) {}
  void on_end(const EndRecord&) override { write_report(reports_of({run_})); }

 private:
  fs::path run_;
};

}  // namespace tandem
