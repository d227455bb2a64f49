// The server of translations: any bytes over a socket, answered by the real server and service with
// a model that says everything back.
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "base/error.h"
#include "cluster/tcp.h"
#include "fuzz_target.h"
#include "translate/serve/http_server.h"
#include "translate/serve/service.h"

namespace tandem {
namespace {

void say_back(const std::vector<std::string>& lines, const SearchSettings& search, const MoreLines&,
              const OnLine& tell) {
  check(search.beam >= 1 && search.n_best >= 1 && search.n_best <= search.beam,
        "a search that cannot be");
  for (std::size_t i = 0; i < lines.size(); ++i) tell(i, {{{lines[i], {}, -1, -1}}, 1, 1});
}

class EchoServer {
 public:
  EchoServer()
      : queue_({1, 512, 4096, std::chrono::microseconds(0)}, say_back),
        service_({}, queue_, metrics_),
        server_(
            {"127.0.0.1", 0, 4, 1 << 16, 1},
            [this](const HttpRequest& request) { return service_.answer(request); },
            [](const HttpVisit& visit) {
              for (const char c : visit.path)
                check(static_cast<unsigned char>(c) >= ' ', "a log line is broken");
            }),
        thread_([this] { server_.run(stop_); }) {}
  ~EchoServer() {
    stop_ = true;
    thread_.join();
  }
  Endpoint at() const { return {"127.0.0.1", static_cast<int>(server_.port())}; }

 private:
  std::atomic<bool> stop_ = false;
  ServeMetrics metrics_;
  TranslationQueue queue_;
  TranslationService service_;
  HttpServer server_;
  std::thread thread_;
};

std::string read_to_end(int fd) {
  std::string answer;
  char block[4096];
  for (;;) {
    pollfd readable{fd, POLLIN, 0};
    const int ready = ::poll(&readable, 1, 20000);
    if (ready < 0 && errno == EINTR) continue;  // libFuzzer's clock
    check(ready == 1, "no end after twenty seconds");
    const ssize_t n = ::recv(fd, block, sizeof block, 0);
    if (n <= 0) return answer;
    answer.append(block, static_cast<std::size_t>(n));
  }
}

void send_anything(std::string_view input) {
  static const EchoServer server;
  std::string problem;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const FileDescriptor socket = connect_to(server.at(), soon, problem);
  check(socket.get() >= 0, "the server is gone: " + problem);
  write_all(socket.get(), input, soon);
  ::shutdown(socket.get(), SHUT_WR);
  const std::string answer = read_to_end(socket.get());
  check(answer.empty() || answer.starts_with("HTTP/1.1 "), "an answer that is no HTTP");
}

std::string post(std::string_view body, std::string_view headers = "") {
  return "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

std::vector<std::string> http_seeds() {
  return {"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
          "HEAD / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n",
          "GET /metrics HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-5,7-9\r\nAccept-Encoding: "
          "gzip\r\n\r\n",
          post(R"({"text":"A dog runs.","beam":2,"alternatives":2})"),
          post(R"({"texts":["a","b"]})", "Content-Type: application/json\r\n"),
          post(R"({"document":"A. B! C?"})", "Connection: close\r\n"),
          "POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
          "chunked\r\n\r\n3\r\n{\"t\r\n8\r\next\":\"a\"\r\n1\r\n}\r\n0\r\n\r\n",
          post("--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nabc\r\n--x--\r\n",
               "Content-Type: multipart/form-data; boundary=x\r\n")};
}

const FuzzTarget kHttpTarget{"http", send_anything, http_seeds, 300};

}  // namespace
}  // namespace tandem
