#include "cluster/network_store.h"

#include <charconv>
#include <mutex>

#include "base/error.h"
#include "base/format.h"
#include "cluster/store_protocol.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// Beyond the wait that was asked for: rank 0's hub answers at once, unless its host is gone.
constexpr auto kPatience = std::chrono::seconds(30);

class NetworkStore final : public Store {
 public:
  explicit NetworkStore(std::function<FileDescriptor()> dial) : dial_(std::move(dial)) {}

  void set(const std::string& key, std::string_view value) override {
    ask(request(StoreOperation::set, key).text(value), key, milliseconds(0));
  }

  std::string get(const std::string& key, milliseconds timeout) override {
    const auto wait = std::max(timeout, milliseconds(0));
    return ask(request(StoreOperation::get, key).i64(wait.count()), key, wait);
  }

  std::int64_t add(const std::string& key, std::int64_t amount) override {
    const std::string text =
        ask(request(StoreOperation::add, key).i64(amount), key, milliseconds(0));
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  bool has(const std::string& key) override {
    return ask(request(StoreOperation::has, key), key, milliseconds(0)) == "1";
  }

  void erase(const std::string& key) override {
    ask(request(StoreOperation::erase, key), key, milliseconds(0));
  }

 private:
  static WireWriter request(StoreOperation operation, const std::string& key) {
    WireWriter writer;
    writer.u8(static_cast<std::uint8_t>(operation)).text(key);
    return writer;
  }

  std::string ask(WireWriter& writer, const std::string& key, milliseconds wait) {
    const std::string message = writer.take();
    if (message.size() > kMostFrameBytes) {
      throw EnvError(format("the value of \"{}\" is too long for the store", key));
    }
    FileDescriptor connection = borrow();
    const auto deadline = std::chrono::steady_clock::now() + wait + kPatience;
    Transfer done = write_all(connection.get(), framed(message), deadline);
    std::string reply;
    if (done == Transfer::done) done = read_frame(connection.get(), reply, deadline);
    if (done != Transfer::done || reply.empty()) {
      throw EnvError(format("rank 0's store {} when asked for \"{}\"; the log of rank 0 says more",
                            done == Transfer::late ? "did not answer" : "closed the connection",
                            key));
    }
    give_back(std::move(connection));
    const auto status = static_cast<StoreStatus>(reply[0]);
    if (status == StoreStatus::late) {
      throw EnvError(format("no worker has set \"{}\" within {} s", key,
                            std::chrono::duration<double>(wait).count()));
    }
    if (status != StoreStatus::ok) throw EnvError("the store refuses " + reply.substr(1));
    return reply.substr(1);
  }
  std::string ask(WireWriter&& writer, const std::string& key, milliseconds wait) {
    return ask(writer, key, wait);
  }

  FileDescriptor borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        FileDescriptor connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return dial_();
  }

  void give_back(FileDescriptor connection) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }

  std::function<FileDescriptor()> dial_;
  std::mutex mutex_;
  std::vector<FileDescriptor> idle_;
};

}  // namespace

std::unique_ptr<Store> network_store(std::function<FileDescriptor()> dial) {
  return std::make_unique<NetworkStore>(std::move(dial));
}

}  // namespace tandem
