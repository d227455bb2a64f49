// journal_copy: a host's own copy of rank 0's journal, byte for byte, and the way for this host's
// records into that journal. A thread of its own does all the work: training never waits for it,
// and when rank 0 is gone, what has come so far is there.
//
// A copy of an earlier start goes on where it ended. One that does not belong to rank 0's journal
// is set aside under another name, never overwritten. A host that shares its disk with rank 0
// keeps no copy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/tcp.h"

namespace tandem {

class JournalCopy {
 public:
  // connection: to rank 0's hub, with Purpose::journal.
  JournalCopy(FileDescriptor connection, fs::path file);
  ~JournalCopy();
  JournalCopy(const JournalCopy&) = delete;
  JournalCopy& operator=(const JournalCopy&) = delete;

  void send_record(std::string line);  // for rank 0 to write; lost when the line to it is

  // Until the copy is whole or will not become so, at most that long. Whether it is.
  bool wait_for_end(std::chrono::milliseconds most);

  bool kept() const;  // whether this host has a copy: rank 0 answered, and no disk is shared

 private:
  enum class State { waiting, copying, shared, whole };
  void run(const std::stop_token& stop);
  bool exchange(std::chrono::milliseconds wait);
  bool send_records();
  bool take(std::string_view message);
  void compare(std::string_view mark);
  void open_file();
  void start_from(std::int64_t bytes);
  void append(std::string_view lines);
  void tell_what_is_here();
  bool tell(std::string_view message);
  void become(State state);

  // Of the thread:
  FileDescriptor connection_;
  fs::path path_;
  FileDescriptor file_;
  std::int64_t size_ = 0;
  bool asked_ = false;  // lines that still come are of no use before the answer
  SteadyTime ask_again_{};
  std::string in_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  State state_ = State::waiting;
  bool over_ = false;  // the thread has ended
  std::vector<std::string> records_;
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace tandem
