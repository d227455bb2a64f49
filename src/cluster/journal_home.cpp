#include "cluster/journal_home.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/longest_line.h"
#include "cluster/job_token.h"
#include "cluster/journal_protocol.h"

namespace tandem {
namespace {

constexpr auto kBetweenReads = std::chrono::milliseconds(50);
// On its way to one host: little beside gradients, also when a host must catch up.
constexpr std::int64_t kWindow = 256 << 10;
constexpr std::int64_t kLastWindow = 4 << 20;      // training is over, the link is free
constexpr std::size_t kMostUntakenRecords = 1000;  // that nobody has taken

std::string bytes_at(int file, std::int64_t from, std::int64_t count) {
  std::string bytes(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), '\0');
  const ssize_t n = bytes.empty() ? 0 : ::pread(file, bytes.data(), bytes.size(), from);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return bytes;
}

bool begins_with(const fs::path& path, std::int64_t bytes, const std::string& hash) {
  const MappedFile file(path);
  const auto count = static_cast<std::size_t>(bytes);
  return bytes >= 0 && count <= file.bytes().size() &&
         hash_text(hash64(file.bytes().first(count))) == hash;
}

}  // namespace

void JournalHome::open(const fs::path& journal) {
  path_ = journal;
  file_ = open_for_reading(journal);
  mark_ = hash_text(hash64(std::string_view(random_bytes(32))));
  atomic_write(journal.parent_path() / kJournalMark, mark_);
  thread_ = std::jthread([this](const std::stop_token& stop) { feed(stop); });
}

void JournalHome::complete() {
  const std::lock_guard lock(mutex_);
  complete_ = true;
}

std::vector<std::string> JournalHome::take_records() {
  const std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

void JournalHome::opened(const Peer& peer, HubPeers&) {
  const std::lock_guard lock(mutex_);
  copies_[peer.id];
}

void JournalHome::received(const Peer& peer, std::string_view text, HubPeers& peers) {
  const std::lock_guard lock(mutex_);
  Copy& copy = copies_[peer.id];
  WireReader reader(text);
  const auto kind = static_cast<JournalKind>(reader.u8());
  if (kind == JournalKind::have) {
    copy.held = reader.i64();
    copy.hash = reader.text();
    ++copy.asked;
  } else if (kind == JournalKind::got) {
    copy.got = std::clamp<std::int64_t>(reader.i64(), 0, copy.sent);
  } else if (kind == JournalKind::record) {
    const std::string_view record = reader.text();
    if (records_.size() < kMostUntakenRecords) records_.emplace_back(record);
  }
  if (!reader.complete()) peers.close(peer.id);
}

void JournalHome::closed(const Peer& peer, HubPeers&) {
  const std::lock_guard lock(mutex_);
  copies_.erase(peer.id);
}

void JournalHome::tick(SteadyTime, HubPeers& peers) {
  std::vector<std::pair<std::int64_t, std::string>> out;
  {
    const std::lock_guard lock(mutex_);
    out.swap(out_);
  }
  for (const auto& [peer, text] : out) peers.send(peer, text);
}

void JournalHome::feed(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      feed_all();
    } catch (const std::exception&) {  // the file cannot be read just now: tried again
    }
    std::this_thread::sleep_for(kBetweenReads);
  }
}

// The file is read without the lock, which the hub's thread needs.
void JournalHome::feed_all() {
  std::map<std::int64_t, Copy> copies;
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    copies = copies_;
    complete = complete_;  // before the size: what is added later is not the end
  }
  struct stat info {};
  if (copies.empty() || ::fstat(file_.get(), &info) != 0) return;
  for (auto& [peer, copy] : copies) {
    const bool agreed = copy.answered == copy.asked;
    feed_one(peer, copy, info.st_size, complete);
    const std::lock_guard lock(mutex_);
    const auto at = copies_.find(peer);
    if (at == copies_.end()) continue;
    Copy& now = at->second;
    now.greeted = copy.greeted;
    now.answered = copy.answered;
    if (now.asked != copy.asked) continue;  // again, meanwhile
    now.sent = copy.sent;
    now.ended = copy.ended;
    if (!agreed) now.got = copy.got;
  }
}

void JournalHome::feed_one(std::int64_t peer, Copy& copy, std::int64_t size, bool complete) {
  if (!copy.greeted) {
    put(peer, journal_message(JournalKind::home).text(mark_).take());
    copy.greeted = true;
  }
  if (copy.asked == 0) return;
  if (copy.answered != copy.asked) {
    copy.sent = copy.got = begins_with(path_, copy.held, copy.hash) ? copy.held : 0;
    copy.answered = copy.asked;
    copy.ended = false;
    put(peer, journal_message(JournalKind::from).i64(copy.sent).take());
  }
  const std::string lines = next_lines(copy, size, complete ? kLastWindow : kWindow);
  if (!lines.empty()) put(peer, journal_message(JournalKind::lines).raw(lines).take());
  copy.sent += static_cast<std::int64_t>(lines.size());
  if (complete && !copy.ended && copy.sent == size) {
    put(peer, journal_message(JournalKind::end).take());
    copy.ended = true;
  }
}

std::string JournalHome::next_lines(const Copy& copy, std::int64_t size,
                                    std::int64_t window) const {
  const std::int64_t left = size - copy.sent;
  const std::int64_t room = window - (copy.sent - copy.got);
  std::string lines = bytes_at(file_.get(), copy.sent, std::min(room, left));
  if (copy.sent == copy.got && left > window && lines.find('\n') == lines.npos) {  // a long line
    lines = bytes_at(file_.get(), copy.sent, std::min(kLongestLine, left));
  }
  lines.resize(lines.rfind('\n') + 1);  // npos + 1 is 0
  return lines;
}

void JournalHome::put(std::int64_t peer, std::string text) {
  const std::lock_guard lock(mutex_);
  out_.emplace_back(peer, std::move(text));
}

}  // namespace tandem
