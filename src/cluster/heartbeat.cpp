#include "cluster/heartbeat.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/screen.h"
#include "base/utf8.h"
#include "cluster/heartbeat_protocol.h"
#include "cluster/phase.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kRank0 = 0;
constexpr auto kFarewell = std::chrono::seconds(60);
constexpr auto kForTheScreen = std::chrono::milliseconds(500);

WireWriter message(BeatKind kind) {
  WireWriter writer;
  writer.u8(static_cast<std::uint8_t>(kind));
  return writer;
}

}  // namespace

// The main thread may be stuck in a write and hold its stream.
void end_process(const std::string& cause, ExitCode code) {
  show_past_streams(format("tandem: {}\n", without_controls(cause)), kForTheScreen);
  ::_exit(static_cast<int>(code));
}

Heartbeat::Heartbeat(FileDescriptor connection, HeartbeatOptions options)
    : options_(std::move(options)),
      connection_(std::move(connection)),
      hub_(options_.limits.timeout) {
  hub_.joined(kRank0, "rank 0", steady_clock::now());  // it may freeze before its first beat
  tell(message(BeatKind::hello).text(options_.name).take());
  beat();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Heartbeat::~Heartbeat() {
  if (!leaving_) explain("");  // an exception is passing: who caused it may be known any moment
  thread_.request_stop();
  ::shutdown(connection_.get(), SHUT_RDWR);  // wakes the thread
}

void Heartbeat::at(std::int64_t step, const char* phase) {
  step_.store(step, std::memory_order_relaxed);
  phase_.store(phase, std::memory_order_relaxed);
  work_sign_.tick();
}

void Heartbeat::worked(double seconds) {
  const std::lock_guard lock(mutex_);
  ++work_.steps;
  work_.seconds += seconds;
}

std::string Heartbeat::explain(const std::string& error) {
  std::unique_lock lock(mutex_);
  // A dead peer is named at once. A frozen one shows after the timeout, but collectives fail long
  // after that.
  changed_.wait_for(lock, milliseconds(1500), [&] { return !cause_.empty() || over_; });
  return cause_.empty() ? error : cause_;
}

void Heartbeat::fail(const std::string& cause) {
  leaving_ = true;
  tell(message(BeatKind::failure).text(cause).take());
}

void Heartbeat::want_stop() {
  stop_wanted_ = true;
  tell_stop();
}

// Again with every beat until it went out: others would train on.
void Heartbeat::tell_stop() {
  if (!stop_told_ && tell(message(BeatKind::stop).take())) stop_told_ = true;
}

void Heartbeat::say_cut_off(const std::string& why) {
  leaving_ = true;
  tell(message(BeatKind::cut_off).text(why).take());
}

// Of a worker that does not reach rank 0; whom rank 0 does not reach, its hub knows.
void Heartbeat::look_at_stop(SteadyTime now) {
  if (patience_.load() == milliseconds(0)) return;  // then a cut ends the run anyway
  if (options_.stop != nullptr && *options_.stop) want_stop();
  if (!stop_wanted_) return;
  if (stop_time_ == SteadyTime{}) stop_time_ = now;
  const std::string unheard = hub_.unheard(now);
  const bool writes = may_write(phase_.load(), work_sign_.read().waits);
  if (unheard.empty() || writes || now - stop_time_ <= options_.limits.to_agree_on_stop) return;
  if (leaving_ || options_.rank == kRank0) return;
  if (options_.on_cut_off && !std::exchange(told_cut_off_, true)) options_.on_cut_off(unheard);
}

void Heartbeat::finish() {
  leaving_ = true;
  tell(message(BeatKind::goodbye).take());
  if (options_.rank != kRank0) return;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kFarewell, [&] { return all_left_ || over_; });
}

void Heartbeat::run(const std::stop_token& stop) {
  auto next = steady_clock::now() + options_.limits.period;
  auto last = steady_clock::now();
  while (!stop.stop_requested()) {
    if (last >= next) {
      beat();
      next = last + options_.limits.period;
    }
    const bool open = listen(std::chrono::ceil<milliseconds>(next - last));
    const auto now = steady_clock::now();
    if (now - last > 2 * options_.limits.period) hub_.forgive(now - last);  // we slept, not they
    last = now;
    hub_.be_patient(patience_);
    look_at_stop(now);
    const std::string cause = open ? hub_.silent(now) : hub_.ended(kRank0);
    const bool own_hub = options_.rank == kRank0;  // as alive as we are
    if (!cause.empty() && !own_hub && !leaving_ && !stop.stop_requested()) lose(cause);
    if (!open) break;
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void Heartbeat::beat() {
  WorkDone work;
  {
    const std::lock_guard lock(mutex_);
    work = work_;
  }
  const WorkSign::Reading sign = work_sign_.read();
  tell(message(BeatKind::beat)
           .i64(step_.load(std::memory_order_relaxed))
           .text(phase_.load(std::memory_order_relaxed))
           .i64(sign.ticks)
           .u8(sign.waits ? 1 : 0)
           .i64(work.steps)
           .i64(static_cast<std::int64_t>(work.seconds * 1e6))
           .take());
  if (stop_wanted_) tell_stop();
}

// Best effort: to a peer that does not read, this beat is lost like the one before. Whole messages
// only: once a part of one went out, the rest follows or the connection is of no use. False: lost.
bool Heartbeat::tell(std::string_view text) {
  const std::lock_guard lock(sending_);
  pollfd writable{connection_.get(), POLLOUT, 0};
  if (::poll(&writable, 1, 0) != 1 || (writable.revents & POLLOUT) == 0) return false;
  const auto deadline = steady_clock::now() + options_.limits.period;
  return write_all(connection_.get(), framed(text), deadline) == Transfer::done;
}

// False: the connection has ended.
bool Heartbeat::listen(milliseconds wait) {
  pollfd readable{connection_.get(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(std::max<std::int64_t>(wait.count(), 0))) <= 0)
    return true;
  char block[4096];
  const ssize_t n = ::recv(connection_.get(), block, sizeof block, MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (n > 0) in_.append(block, static_cast<std::size_t>(n));
  while (in_.size() >= 4) {
    const std::uint32_t size = WireReader(in_).u32();
    if (size > kMostFrameBytes) return false;
    if (in_.size() < 4 + std::size_t{size}) break;
    take(std::string_view(in_).substr(4, size));
    in_.erase(0, 4 + std::size_t{size});
  }
  return true;
}

void Heartbeat::take(std::string_view text) {
  WireReader reader(text);
  const auto kind = static_cast<BeatKind>(reader.u8());
  if (kind == BeatKind::beat) {
    const std::string name(reader.text());
    const std::int64_t step = reader.i64();
    const std::string phase(reader.text());
    if (!reader.ok()) return;
    if (!std::exchange(hub_named_, true)) hub_.joined(kRank0, name, steady_clock::now());
    hub_.sign(kRank0, steady_clock::now(), {step, phase});
  } else if (kind == BeatKind::stop) {
    stop_wanted_ = stop_told_ = true;
  } else if (kind == BeatKind::cut_off) {
    const std::string why(reader.text());
    hub_.left(kRank0);
    if (options_.on_cut_off && !std::exchange(told_cut_off_, true)) options_.on_cut_off(why);
  } else if (kind == BeatKind::cause) {
    lose(std::string(reader.text()));
  } else if (kind == BeatKind::all_left) {
    hub_.left(kRank0);
    const std::lock_guard lock(mutex_);
    all_left_ = true;
    changed_.notify_all();
  }
}

void Heartbeat::lose(const std::string& cause) {
  hub_.left(kRank0);  // whatever follows is a consequence
  {
    const std::lock_guard lock(mutex_);
    if (!cause_.empty()) return;
    cause_ = cause;
    changed_.notify_all();
  }
  if (options_.on_lost && !leaving_) options_.on_lost(cause);
}

}  // namespace tandem
