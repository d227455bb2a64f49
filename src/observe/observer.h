// observer: who watches a run. Observers get const records and cannot change it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "observe/records.h"

namespace tandem {

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_run(const RunRecord&) {}
  virtual void on_step(const StepRecord&) {}
  virtual void on_eval(const EvalRecord&) {}
  virtual void on_samples(const SamplesRecord&) {}
  virtual void on_system(const SystemRecord&) {}
  virtual void on_checkpoint(const CheckpointRecord&) {}
  virtual void on_event(const EventRecord&) {}
  virtual void on_end(const EndRecord&) {}
};

// Tells all of them, in order, one record at a time: the trainer and the sampler may both tell. One
// that throws is dropped, and the others hear of it as an event. An observer may itself tell an
// event: all hear of it after the record that it was about.
class ObserverList final : public Observer {
 public:
  void add(std::string name, std::unique_ptr<Observer> observer);

  void on_run(const RunRecord& record) override { tell(&Observer::on_run, record); }
  void on_step(const StepRecord& record) override { tell(&Observer::on_step, record); }
  void on_eval(const EvalRecord& record) override { tell(&Observer::on_eval, record); }
  void on_samples(const SamplesRecord& record) override { tell(&Observer::on_samples, record); }
  void on_system(const SystemRecord& record) override { tell(&Observer::on_system, record); }
  void on_checkpoint(const CheckpointRecord& record) override {
    tell(&Observer::on_checkpoint, record);
  }
  void on_event(const EventRecord& record) override { tell(&Observer::on_event, record); }
  void on_end(const EndRecord& record) override { tell(&Observer::on_end, record); }

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<Observer> observer;
  };
  template <class Record>
  void tell(void (Observer::*method)(const Record&), const Record& record) {
    const std::lock_guard lock(mutex_);
    if (telling_) {  // an observer speaks
      if constexpr (std::is_same_v<Record, EventRecord>) waiting_.push_back(record);
      return;
    }
    telling_ = true;
    tell_each(method, record);
    while (!waiting_.empty()) {
      const EventRecord next = waiting_.front();
      waiting_.erase(waiting_.begin());
      tell_each(&Observer::on_event, next);
    }
    telling_ = false;
  }
  template <class Record>
  void tell_each(void (Observer::*method)(const Record&), const Record& record) {
    std::erase_if(entries_, [&](Entry& entry) {
      try {
        (entry.observer.get()->*method)(record);
        return false;
      } catch (const std::exception& error) {
        waiting_.push_back({0, "warning", entry.name + " was switched off: " + error.what()});
        return true;
      }
    });
  }

  std::recursive_mutex mutex_;  // an observer that speaks does so inside a record
  bool telling_ = false;
  std::vector<EventRecord> waiting_;
  std::vector<Entry> entries_;
};

}  // namespace tandem
