// http_server: an HTTP/1.1 server without its library: every request goes to one function, and what
// it returns goes out. What is no HTTP, too large or too slow is answered (400, 408, 411, 413, 414,
// 431) and cut off here. cpp-httplib stays behind it, in http_server.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

struct HttpRequest {
  std::string method, path;                       // HEAD comes as GET; path without the query
  std::string host, authorization, content_type;  // headers, empty where absent
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json", body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Instead of body: called until it returns false; each part goes out at once.
  std::function<bool(std::string& part)> next_part;
};

struct HttpVisit {
  std::string from, method, path;  // path cut when it is long
  int status = 0;
  double seconds = 0;  // until the answer was ready
};

struct HttpSettings {
  std::string host = "127.0.0.1";
  std::int64_t port = 8080;               // 0: any free one
  std::int64_t connections = 256;         // served at a time; others wait
  std::size_t most_body_bytes = 1 << 20;  // unpacked
  std::int64_t read_seconds = 5;  // a client that sends or takes nothing for so long is cut off,
                                  // and one whose request takes twice as long to arrive
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;
  using OnVisit = std::function<void(const HttpVisit&)>;

  // Listens; requests wait until run(). A taken port or an address that is not ours: EnvError.
  // handler and on_visit are called by many threads at a time.
  HttpServer(const HttpSettings& settings, Handler handler, OnVisit on_visit);
  ~HttpServer();

  std::int64_t port() const;
  // Until stop: then nothing new is taken, and it returns when what was taken is answered.
  void run(const std::atomic<bool>& stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
