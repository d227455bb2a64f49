#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/format.h"
#include "cluster/store.h"

namespace tandem {
namespace {

class MemoryStore final : public Store {
 public:
  void set(const std::string& key, std::string_view value) override {
    {
      const std::lock_guard lock(mutex_);
      values_[key] = value;
    }
    changed_.notify_all();
  }

  std::string get(const std::string& key, std::chrono::milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [&] { return values_.contains(key); })) {
      throw EnvError(format("no worker has set \"{}\" within {} s", key,
                            std::chrono::duration<double>(timeout).count()));
    }
    return values_.at(key);
  }

  std::int64_t add(const std::string& key, std::int64_t amount) override {
    std::int64_t value = 0;
    {
      const std::lock_guard lock(mutex_);
      std::string& text = values_.try_emplace(key, "0").first->second;
      const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (failed != std::errc{} || end != text.data() + text.size()) {
        throw EnvError(format("\"{}\" holds \"{}\", which is no counter", key, text));
      }
      value += amount;
      text = format("{}", value);
    }
    changed_.notify_all();
    return value;
  }

  bool has(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    return values_.contains(key);
  }

  void erase(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    values_.erase(key);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

}  // namespace

std::unique_ptr<Store> memory_store() {
  return std::make_unique<MemoryStore>();
}

}  // namespace tandem
