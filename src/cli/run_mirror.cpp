#include "cli/run_mirror.h"

#include <utility>

#include "base/format.h"

namespace tandem {
namespace {

class CheckpointWatcher final : public Observer {
 public:
  explicit CheckpointWatcher(CheckpointMirror& mirror) : mirror_(mirror) {}
  void on_checkpoint(const CheckpointRecord& record) override { mirror_.add(record.step); }

 private:
  CheckpointMirror& mirror_;
};

}  // namespace

CheckpointMirror::CheckpointMirror(RunFolder run, SendSetting to, std::string host,
                                   Observer& events)
    : run_(std::move(run)),
      to_(std::move(to)),
      host_(std::move(host)),
      events_(events),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

CheckpointMirror::~CheckpointMirror() = default;

std::unique_ptr<Observer> CheckpointMirror::watcher() {
  return std::make_unique<CheckpointWatcher>(*this);
}

void CheckpointMirror::add(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  newest_ = step;
  changed_.notify_all();
}

void CheckpointMirror::finish(std::chrono::seconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] { return newest_ < 0 && !busy_; });
}

void CheckpointMirror::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return newest_ >= 0; })) {
    const std::int64_t step = std::exchange(newest_, -1);
    busy_ = true;
    lock.unlock();
    copy(step, stop);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void CheckpointMirror::copy(std::int64_t step, const std::stop_token& stop) {
  const fs::path folder = run_.checkpoint(step);
  try {
    SendSetting to = to_;
    to.stop = stop;
    const FolderOffer offer = offer_folder(FolderKind::checkpoint, step, folder);
    if (send_folder(folder, offer, to) == Sent::stopped) return;
    events_.on_event({step, "mirror", format("{} has the checkpoint of step {} too", host_, step)});
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return;
    events_.on_event(
        {step, "warning",
         format("the checkpoint of step {} could not be copied to {}: {}; training goes on and the "
                "next one is tried again",
                step, host_, error.what())});
  }
}

}  // namespace tandem
