// journal: journal.jsonl, every record of a run as one JSON object a line, appended at once and
// never rewritten. A resumed run goes on in the same file; its `run` line says from which step, and
// what came after that step before that line does not count any more.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "observe/observer.h"

namespace tandem {

class Journal final : public Observer {
 public:
  // Cuts off half a line that a crash may have left. now: seconds since 1970.
  Journal(const fs::path& path, std::function<double()> now);

  void on_run(const RunRecord& record) override { add(record); }
  void on_step(const StepRecord& record) override { add(record); }
  void on_eval(const EvalRecord& record) override { add(record); }
  void on_system(const SystemRecord& record) override { add(record); }
  void on_checkpoint(const CheckpointRecord& record) override { add(record); }
  void on_event(const EventRecord& record) override { add(record); }
  void on_end(const EndRecord& record) override { add(record); }

 private:
  template <class Record>
  void add(const Record& record);
  void write(std::string_view line);

  fs::path path_;
  FileDescriptor fd_;
  std::function<double()> now_;
  std::string waiting_;  // lines that a full disk did not take yet
  bool warned_ = false;
};

}  // namespace tandem
