#include "cluster/work_sign.h"

#include <utility>

namespace tandem {

WorkSign::Reading WorkSign::read() const {
  const std::lock_guard lock(mutex_);
  return {ticks_.load(std::memory_order_relaxed), come_ && !come_()};
}

WorkSign::Waiting::Waiting(WorkSign* sign, std::function<bool()> come) : sign_(sign) {
  if (sign_ == nullptr || std::this_thread::get_id() != sign_->worker_) return;
  const std::lock_guard lock(sign_->mutex_);
  sign_->come_ = std::move(come);
  told_ = true;
}

WorkSign::Waiting::~Waiting() {
  if (sign_ == nullptr) return;
  sign_->tick();
  if (!told_) return;
  const std::lock_guard lock(sign_->mutex_);
  sign_->come_ = nullptr;
}

}  // namespace tandem
