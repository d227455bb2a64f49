// store: small values that all workers of a run share while they meet: addresses, versions, votes.
// For control, not for data: values are kept whole in the memory of one process.
// Every method may be called from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tandem {

class Store {
 public:
  virtual ~Store() = default;

  virtual void set(const std::string& key, std::string_view value) = 0;
  // Waits until the key is set. EnvError names the key when the time is over.
  virtual std::string get(const std::string& key, std::chrono::milliseconds timeout) = 0;
  // A counter that starts at 0, kept as decimal text; returns the new value. A key that holds
  // anything else is an EnvError.
  virtual std::int64_t add(const std::string& key, std::int64_t amount) = 0;
  virtual bool has(const std::string& key) = 0;
  virtual void erase(const std::string& key) = 0;  // a key that is not there is fine
};

// In the memory of this process: for workers that are its threads.
std::unique_ptr<Store> memory_store();

}  // namespace tandem
