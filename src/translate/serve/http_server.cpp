#include "translate/serve/http_server.h"

#include <httplib.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "translate/serve/client_connection.h"

namespace tandem {
namespace {

constexpr std::size_t kMostPath = 1024;  // the library matches paths by a recursive regex
constexpr std::size_t kShown = 60;
constexpr int kBacklog = 512;  // its own is 5: a rush of clients would wait a second
constexpr const char* kTiming = "Server-Timing";

using Clock = std::chrono::steady_clock;

// The client that this thread serves: the library's handlers are not told whose request it is.
thread_local ClientConnection* served_client = nullptr;

// The library's own reads lines of any length, for any time, and forgets requests that came with an
// earlier one.
class ClientStream : public httplib::Stream {
 public:
  explicit ClientStream(ClientConnection& client) : client_(client) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, std::size_t size) override {
    const std::size_t n = client_.read({bytes, size});
    return n > 0 ? static_cast<ssize_t>(n) : -1;
  }
  ssize_t write(const char* bytes, std::size_t size) override {
    return client_.write({bytes, size}) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int&) const override { ip = client_.address(); }
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }  // its number is nobody's business

 private:
  ClientConnection& client_;
};

// Counts the clients that no thread serves yet.
class ClientThreads : public httplib::ThreadPool {
 public:
  ClientThreads(std::size_t threads, std::atomic<int>& waiting)
      : ThreadPool(threads), waiting_(waiting) {}
  void enqueue(std::function<void()> serve) override {
    ++waiting_;
    ThreadPool::enqueue([this, serve = std::move(serve)] {
      --waiting_;
      serve();
    });
  }

 private:
  std::atomic<int>& waiting_;
};

class Listener : public httplib::Server {
 public:
  void serve(const HttpSettings& settings) {
    limits_.silence = std::chrono::seconds(settings.read_seconds);
    limits_.request = 2 * limits_.silence;
    limits_.most_body_bytes = 2 * settings.most_body_bytes + limits_.most_head_bytes;  // in chunks
    new_task_queue = [this, count = settings.connections] {
      return new ClientThreads(static_cast<std::size_t>(count), waiting_);
    };
  }
  void widen_backlog() const { ::listen(svr_sock_, kBacklog); }
  void end() {
    stopping_ = true;
    stop();
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    ClientConnection client(FileDescriptor(socket), limits_, waiting_);
    ClientStream stream(client);
    served_client = &client;
    while (client.wait_for_request(stopping_)) {
      bool closed = false;
      const bool answered = process_request(stream, false, closed, serve_whole);
      if (!answered) refuse(client);
      if (!answered || closed || !client.is_request_whole()) break;
    }
    served_client = nullptr;
    return true;
  }
  // The library would cut a range out of the answer and still call it whole.
  static void serve_whole(httplib::Request& request) { request.ranges.clear(); }
  // The library says nothing where not even a first line came.
  static void refuse(ClientConnection& client);

  ConnectionLimits limits_;
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> stopping_ = false;
};

// A signal would wake the library's accept(), which it takes for a failure.
template <class Work>
std::jthread without_signals(Work work) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

const char* reason_of(int status) {
  switch (status) {
    case 400:
      return "this is no HTTP request that can be read";
    case 408:
      return "the request took too long to arrive";
    case 411:
      return "a request with a body must tell its Content-Length";
    case 413:
      return "the request is too large";
    case 414:
      return "the path is too long";
    case 416:
      return "ranges are not served";
    case 431:
      return "the head of the request is too large";
    default:
      return "the request failed";
  }
}

std::string error_body(int status) {
  return Json::object().set("error", reason_of(status)).dump() + "\n";
}

// What the library takes for a request that cannot be read may be one that was not read.
int status_after(ClientConnection::Trouble trouble, int status) {
  switch (trouble) {
    case ClientConnection::Trouble::too_slow:
      return 408;
    case ClientConnection::Trouble::head_too_large:
      return 431;
    case ClientConnection::Trouble::body_too_large:
      return 413;
    default:
      return status;
  }
}

void Listener::refuse(ClientConnection& client) {
  const int status = status_after(client.trouble(), 0);
  if (status == 0) return;
  const std::string body = error_body(status);
  client.write(
      format("HTTP/1.1 {} Refused\r\nContent-Type: application/json\r\n"
             "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
             status, body.size(), body));
}

// Where a request ends and whom it asks must be beyond doubt: 400, 411 or 413, else 0.
int head_mistake(const httplib::Request& request, std::size_t most_body_bytes) {
  if (request.get_header_value_count("Host") > 1) return 400;
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  const std::size_t codings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + codings > 1) return 400;
  if (codings == 1) return request.get_header_value("Transfer-Encoding") == "chunked" ? 0 : 400;
  if (lengths == 0) return request.method == "POST" ? 411 : 0;
  const std::string length = request.get_header_value("Content-Length");
  if (length.empty() || length.find_first_not_of("0123456789") != std::string::npos) return 400;
  return length.size() > 18 || std::stoull(length) > most_body_bytes ? 413 : 0;
}

bool has_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

HttpRequest request_of(const httplib::Request& from) {
  return {from.method == "HEAD" ? "GET" : from.method,
          from.path,
          from.get_header_value("Host"),
          from.get_header_value("Authorization"),
          from.get_header_value("Content-Type"),
          {}};
}

void put_answer(HttpAnswer answer, Clock::time_point start, httplib::Response& to) {
  to.status = answer.status;
  for (const auto& [name, value] : answer.headers) to.set_header(name, value);
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  to.set_header(kTiming, format("total;dur={:.3f}", ms));
  if (!answer.next_part) {
    to.set_content(std::move(answer.body), answer.type);
    return;
  }
  // All parts in one call: between two the library leaves when the server is to end.
  to.set_chunked_content_provider(
      answer.type, [next = std::move(answer.next_part)](std::size_t, httplib::DataSink& sink) {
        for (bool more = true; more;) {
          std::string part;
          more = next(part);
          if (!part.empty() && !sink.write(part.data(), part.size())) return false;
        }
        sink.done();
        return true;
      });
}

// Of what a client sent, as a line of a log and a terminal can bear it.
std::string shown(const std::string& text) {
  std::string cut = text.substr(0, kShown);
  for (char& c : cut) {
    if (c < ' ' || c > '~') c = '?';
  }
  return cut;
}

HttpVisit visit_of(const httplib::Request& request, const httplib::Response& answer) {
  const std::string timing = answer.get_header_value(kTiming);
  const auto at = timing.find('=');
  const double ms = at == std::string::npos ? 0 : std::atof(timing.c_str() + at + 1);
  return {request.remote_addr, shown(request.method), shown(request.path), answer.status,
          ms / 1000};
}

}  // namespace

struct HttpServer::Impl {
  Listener server;
  Handler handler;
  std::int64_t port = 0;

  // A body is read here so that what it unpacks to is bounded, too.
  void take_post(const httplib::Request& from, httplib::Response& to,
                 const httplib::ContentReader& read, std::size_t most) const {
    const auto start = Clock::now();
    HttpRequest request = request_of(from);
    bool too_large = false;
    const bool whole = !from.is_multipart_form_data() && read([&](const char* data, std::size_t n) {
      too_large = request.body.size() + n > most;
      if (!too_large) request.body.append(data, n);
      return !too_large;
    });
    if (too_large || !whole) {
      to.status = too_large ? 413 : (to.status >= 400 ? to.status : 400);
      return;
    }
    served_client->request_is_whole();
    put_answer(handler(request), start, to);
  }

  httplib::Server::HandlerResponse route(const httplib::Request& from, httplib::Response& to,
                                         std::size_t most_body_bytes) const {
    using Response = httplib::Server::HandlerResponse;
    served_client->head_is_whole();
    const int mistake = from.path.size() > kMostPath ? 414 : head_mistake(from, most_body_bytes);
    if (mistake != 0) {
      to.status = mistake;
      return Response::Handled;
    }
    if (from.method == "POST") return Response::Unhandled;
    if (!has_body(from)) served_client->request_is_whole();  // else it ends the connection, unread
    put_answer(handler(request_of(from)), Clock::now(), to);
    return Response::Handled;
  }
};

HttpServer::HttpServer(const HttpSettings& settings, Handler handler, OnVisit on_visit)
    : impl_(std::make_unique<Impl>()) {
  Listener& server = impl_->server;
  impl_->handler = std::move(handler);
  server.serve(settings);
  server.set_payload_max_length(settings.most_body_bytes);
  server.set_keep_alive_timeout(settings.read_seconds);  // only told to clients
  server.set_tcp_nodelay(true);
  server.set_pre_routing_handler(
      [this, most = settings.most_body_bytes](const auto& from, auto& to) {
        return impl_->route(from, to, most);
      });
  server.Post(
      ".*", [this, most = settings.most_body_bytes](const auto& from, auto& to, const auto& read) {
        impl_->take_post(from, to, read, most);
      });
  // The library's own handler would tell the client what went wrong inside.
  server.set_exception_handler([](const httplib::Request&, httplib::Response& to,
                                  const std::exception_ptr&) { to.status = 500; });
  server.set_error_handler(
      httplib::Server::Handler([](const httplib::Request&, httplib::Response& to) {
        to.status = status_after(served_client->trouble(), to.status);
        if (!served_client->is_request_whole()) to.set_header("Connection", "close");
        if (to.body.empty()) to.set_content(error_body(to.status), "application/json");
      }));
  server.set_logger([on_visit = std::move(on_visit)](const auto& request, const auto& answer) {
    on_visit(visit_of(request, answer));
  });
  // Without SO_REUSEPORT, which is the library's habit: a second server on the port is refused.
  server.set_socket_options([](auto socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  impl_->port = settings.port;
  const bool bound = settings.port == 0
                         ? (impl_->port = server.bind_to_any_port(settings.host)) > 0
                         : server.bind_to_port(settings.host, static_cast<int>(settings.port));
  if (!bound) {
    throw EnvError(
        format("cannot listen at {} port {}: the port is taken or the address is not "
               "this machine's; choose another --port or --host",
               settings.host, settings.port));
  }
  server.widen_backlog();
}

HttpServer::~HttpServer() = default;

std::int64_t HttpServer::port() const {
  return impl_->port;
}

void HttpServer::run(const std::atomic<bool>& stop) {
  std::atomic<bool> ended = false;
  bool good = false;
  std::jthread listener = without_signals([&] {
    good = impl_->server.listen_after_bind();
    ended = true;
  });
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  while (!stop && !ended) nap();
  while (!impl_->server.is_running() && !ended) nap();  // it cannot be stopped before
  impl_->server.end();
  listener.join();
  if (!good && !stop) throw EnvError("the server's socket failed; start it again");
}

}  // namespace tandem
