#include "cluster/journal_copy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "cluster/journal_protocol.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto kBetweenSends = milliseconds(200);
constexpr auto kHubPatience = std::chrono::seconds(10);  // for rank 0's hub to read
constexpr auto kDiskRest = std::chrono::seconds(2);      // before a full disk is tried again
constexpr std::size_t kMostUnsentRecords = 100;

fs::path free_name(const fs::path& path) {
  for (int i = 1;; ++i) {
    fs::path name = path.parent_path() /
                    format("{}-other-{}{}", path.stem().string(), i, path.extension().string());
    if (!fs::exists(name)) return name;
  }
}

bool holds(const fs::path& path, std::string_view text) {
  return fs::exists(path) && read_file(path) == text;
}

}  // namespace

JournalCopy::JournalCopy(FileDescriptor connection, fs::path file)
    : connection_(std::move(connection)), path_(std::move(file)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

JournalCopy::~JournalCopy() {
  thread_.request_stop();
  ::shutdown(connection_.get(), SHUT_RDWR);  // wakes the thread
}

void JournalCopy::send_record(std::string line) {
  const std::lock_guard lock(mutex_);
  if (records_.size() < kMostUnsentRecords) records_.push_back(std::move(line));
}

bool JournalCopy::wait_for_end(milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most,
                    [&] { return over_ || state_ == State::whole || state_ == State::shared; });
  return state_ == State::whole;
}

bool JournalCopy::kept() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::copying || state_ == State::whole;
}

// A disk that fails ends the copy, not the training.
void JournalCopy::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested() && exchange(kBetweenSends)) {
    }
  } catch (const std::exception& error) {
    const std::string text =
        format("tandem: warning: this host keeps no copy of the journal: {}\n", error.what());
    std::fputs(text.c_str(), stderr);
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

// False: the connection has ended.
bool JournalCopy::exchange(milliseconds wait) {
  if (!send_records()) return false;
  if (ask_again_ != SteadyTime{} && steady_clock::now() > ask_again_) tell_what_is_here();
  pollfd readable{connection_.get(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(wait.count())) <= 0) return true;
  std::string block(1 << 16, '\0');
  const ssize_t n = ::recv(connection_.get(), block.data(), block.size(), MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (n > 0) in_.append(block.data(), static_cast<std::size_t>(n));
  std::size_t done = 0;
  while (in_.size() - done >= 4) {
    const std::uint32_t size = WireReader(std::string_view(in_).substr(done)).u32();
    if (size > kMostFrameBytes) return false;
    if (in_.size() - done - 4 < size) break;
    if (!take(std::string_view(in_).substr(done + 4, size))) return false;
    done += 4 + std::size_t{size};
  }
  in_.erase(0, done);
  return true;
}

bool JournalCopy::send_records() {
  std::vector<std::string> records;
  {
    const std::lock_guard lock(mutex_);
    records.swap(records_);
  }
  for (const std::string& record : records) {
    if (!tell(journal_message(JournalKind::record).text(record).take())) return false;
  }
  return true;
}

bool JournalCopy::take(std::string_view text) {
  WireReader reader(text);
  const auto kind = static_cast<JournalKind>(reader.u8());
  if (kind == JournalKind::home) {
    compare(reader.text());
  } else if (kind == JournalKind::from && file_.get() >= 0) {
    start_from(reader.i64());
  } else if (kind == JournalKind::lines && file_.get() >= 0) {
    append(text.substr(1));
  } else if (kind == JournalKind::end && !asked_) {
    become(State::whole);
  }
  return reader.ok();
}

void JournalCopy::compare(std::string_view mark) {
  if (holds(path_.parent_path() / kJournalMark, mark)) return become(State::shared);
  open_file();
  tell_what_is_here();
}

void JournalCopy::open_file() {
  file_ = open_own_file(path_, O_WRONLY | O_APPEND);
}

// Whole lines only; half of one is cut off.
void JournalCopy::tell_what_is_here() {
  ask_again_ = {};
  const std::string text = read_file(path_, kAnyFileBytes);
  const std::string_view whole = std::string_view(text).substr(0, text.rfind('\n') + 1);
  size_ = static_cast<std::int64_t>(whole.size());
  if (::ftruncate(file_.get(), size_) != 0) {
    throw EnvError(format("cannot write {}: {}", path_.string(), errno_text(errno)));
  }
  asked_ = true;
  tell(journal_message(JournalKind::have).i64(size_).text(hash_text(hash64(whole))).take());
}

void JournalCopy::start_from(std::int64_t bytes) {
  if (bytes != size_) {
    fs::rename(path_, free_name(path_));
    open_file();
    size_ = 0;
  }
  asked_ = false;
  become(State::copying);
}

void JournalCopy::append(std::string_view lines) {
  if (asked_ || ask_again_ != SteadyTime{}) return;
  for (std::string_view left = lines; !left.empty();) {
    const ssize_t n = ::write(file_.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      ask_again_ = steady_clock::now() + kDiskRest;
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  size_ += static_cast<std::int64_t>(lines.size());
  tell(journal_message(JournalKind::got).i64(size_).take());
}

bool JournalCopy::tell(std::string_view text) {
  return write_all(connection_.get(), framed(text), steady_clock::now() + kHubPatience) ==
         Transfer::done;
}

void JournalCopy::become(State state) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::shared) return;
  state_ = state;
  changed_.notify_all();
}

}  // namespace tandem
