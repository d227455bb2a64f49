// stranger_log: says that strangers knocked, at most every ten seconds however many they are.
#pragma once

#include <functional>
#include <string>

#include "base/format.h"
#include "cluster/tcp.h"

namespace tandem {

class StrangerLog {
 public:
  explicit StrangerLog(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  void refused(const std::string& from, SteadyTime now) {
    ++unsaid_;
    last_ = from;
    tick(now);
  }

  void tick(SteadyTime now) {
    if (unsaid_ == 0 || now < next_) return;
    say_(format("refused {} connection{} that did not know the job token, {} from {}", unsaid_,
                unsaid_ == 1 ? "" : "s", unsaid_ == 1 ? "it came" : "the last came", last_));
    unsaid_ = 0;
    next_ = now + std::chrono::seconds(10);
  }

 private:
  std::function<void(const std::string&)> say_;
  long unsaid_ = 0;
  std::string last_;
  SteadyTime next_{};
};

}  // namespace tandem
