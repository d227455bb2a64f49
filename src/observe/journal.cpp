#include "observe/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/format.h"
#include "observe/journal_lines.h"

namespace tandem {
namespace {

// A disk that stays full may cost lines, never the memory that training needs.
constexpr std::size_t kMostWaitingBytes = 16 << 20;

[[noreturn]] void fail(const fs::path& path) {
  throw EnvError(format("cannot write {}: {}", path.string(), errno_text(errno)));
}

// Where the last whole line ends.
off_t end_of_whole_lines(const fs::path& path) {
  const std::string text = read_file(path, kAnyFileBytes);
  return static_cast<off_t>(text.rfind('\n') + 1);  // npos + 1 is 0
}

}  // namespace

Journal::Journal(const fs::path& path, std::function<double()> now)
    : path_(path), fd_(open_own_file(path, O_WRONLY | O_APPEND)), now_(std::move(now)) {
  if (::ftruncate(fd_.get(), end_of_whole_lines(path_)) != 0) fail(path_);
}

template <class Record>
void Journal::add(const Record& record) {
  write(journal_line(record, now_()).dump() + "\n");
}

void Journal::write(std::string_view line) {
  if (waiting_.size() + line.size() <= kMostWaitingBytes) waiting_ += line;
  while (!waiting_.empty()) {
    const ssize_t n = ::write(fd_.get(), waiting_.data(), waiting_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error_number = errno;
      if (warned_) return;
      warned_ = true;
      const std::string text =
          format("tandem: warning: cannot write {}: {}; training goes on, lines wait in memory\n",
                 path_.string(), errno_text(error_number));
      std::fputs(text.c_str(), stderr);
      return;
    }
    waiting_.erase(0, static_cast<std::size_t>(n));
  }
  warned_ = false;
}

}  // namespace tandem
