#include "translate/serve/http_server.h"

#include <httplib.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"

namespace tandem {
namespace {

constexpr std::size_t kMostPath = 1024;  // the library matches paths by a recursive regex
constexpr std::size_t kShownPath = 60;
constexpr int kBacklog = 512;  // its own is 5: a rush of clients would wait a second
constexpr const char* kTiming = "Server-Timing";

using Clock = std::chrono::steady_clock;

// The socket is out of reach otherwise.
class Listener : public httplib::Server {
 public:
  void widen_backlog() const { ::listen(svr_sock_, kBacklog); }
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
    case 413:
      return "the request is too large";
    case 414:
      return "the path is too long";
    case 416:
      return "ranges are not served";
    default:
      return "the request failed";
  }
}

std::string error_body(int status) {
  return Json::object().set("error", reason_of(status)).dump() + "\n";
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
  to.set_chunked_content_provider(
      answer.type, [next = std::move(answer.next_part)](std::size_t, httplib::DataSink& sink) {
        std::string part;
        const bool more = next(part);
        if (!part.empty() && !sink.write(part.data(), part.size())) return false;
        if (!more) sink.done();
        return true;
      });
}

HttpVisit visit_of(const httplib::Request& request, const httplib::Response& answer) {
  const std::string timing = answer.get_header_value(kTiming);
  const auto at = timing.find('=');
  const double ms = at == std::string::npos ? 0 : std::atof(timing.c_str() + at + 1);
  std::string path = request.path.substr(0, kShownPath);
  for (char& c : path) {
    if (c < ' ' || c == '\x7f') c = '?';  // a log line stays one line
  }
  return {request.remote_addr, request.method.substr(0, kShownPath), std::move(path), answer.status,
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
    put_answer(handler(request), start, to);
  }

  httplib::Server::HandlerResponse route(const httplib::Request& from,
                                         httplib::Response& to) const {
    using Response = httplib::Server::HandlerResponse;
    if (from.path.size() > kMostPath) {
      to.status = 414;
      to.set_content(error_body(414), "application/json");
      return Response::Handled;
    }
    if (from.method == "POST") return Response::Unhandled;
    put_answer(handler(request_of(from)), Clock::now(), to);
    return Response::Handled;
  }
};

HttpServer::HttpServer(const HttpSettings& settings, Handler handler, OnVisit on_visit)
    : impl_(std::make_unique<Impl>()) {
  Listener& server = impl_->server;
  impl_->handler = std::move(handler);
  server.new_task_queue = [count = settings.connections] {
    return new httplib::ThreadPool(static_cast<std::size_t>(count));
  };
  server.set_payload_max_length(settings.most_body_bytes);
  server.set_read_timeout(settings.read_seconds);
  server.set_write_timeout(settings.read_seconds);
  server.set_keep_alive_timeout(settings.read_seconds);
  server.set_keep_alive_max_count(100000);
  server.set_tcp_nodelay(true);
  server.set_pre_routing_handler(
      [this](const auto& from, auto& to) { return impl_->route(from, to); });
  server.Post(
      ".*", [this, most = settings.most_body_bytes](const auto& from, auto& to, const auto& read) {
        impl_->take_post(from, to, read, most);
      });
  // The library's own handler would tell the client what went wrong inside.
  server.set_exception_handler([](const httplib::Request&, httplib::Response& to,
                                  const std::exception_ptr&) { to.status = 500; });
  server.set_error_handler(
      httplib::Server::Handler([](const httplib::Request&, httplib::Response& to) {
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
  impl_->server.stop();
  listener.join();
  if (!good && !stop) throw EnvError("the server's socket failed; start it again");
}

}  // namespace tandem
