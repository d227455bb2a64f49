// event_file: one file of TensorBoard events. Each record is framed with its length and two
// checksums and leaves in one write, so that a kill cuts at most the last one, and readers stop
// there. Never rewritten: every start of a run makes a new file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"

namespace tandem {

// Curves and texts at one moment.
struct Event {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::vector<std::pair<std::string, double>> scalars;     // tag, value
  std::vector<std::pair<std::string, std::string>> texts;  // tag, Markdown
};

class EventFile {
 public:
  // Creates folder/events.out.tfevents.SECONDS.HOST.PID.0 with its version record.
  EventFile(const fs::path& folder, std::string_view host, double wall_time);
  const fs::path& path() const { return path_; }

  void add(const Event& event);
  // What earlier files have from this step on is not shown any more.
  void restart_from(std::int64_t step, double wall_time);

 private:
  void write(std::string_view event);
  fs::path path_;
  FileDescriptor fd_;
};

// The pure parts.
std::string event_frame(std::string_view record);  // length, its checksum, record, its checksum
std::string serialized(const Event& event);        // an Event message

}  // namespace tandem
