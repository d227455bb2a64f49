// step_timer: where the seconds of one step go. What no phase claims is "other".
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "observe/records.h"

namespace tandem {

class StepTimer {
 public:
  using Clock = std::chrono::steady_clock;
  StepTimer() : start_(Clock::now()) {}

  // Runs the work and adds its time to the phase: timer.measure(&StepSeconds::forward, ...).
  template <class Work>
  decltype(auto) measure(double StepSeconds::*phase, Work&& work) {
    const Adder adder{seconds_.*phase, Clock::now()};
    return std::forward<Work>(work)();
  }

  // What the work measured itself.
  void add(double StepSeconds::*phase, double seconds) { seconds_.*phase += seconds; }

  StepSeconds result() const {
    StepSeconds s = seconds_;
    s.total = since(start_);
    const double claimed = s.data + s.forward + s.backward + s.exchange + s.wait + s.optimizer;
    s.other = std::max(0.0, s.total - claimed);
    return s;
  }

 private:
  static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  struct Adder {
    double& sum;
    Clock::time_point start;
    ~Adder() { sum += since(start); }
  };
  Clock::time_point start_;
  StepSeconds seconds_;
};

}  // namespace tandem
