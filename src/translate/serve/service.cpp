#include "translate/serve/service.h"

#include <deque>
#include <exception>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/sha256.h"
#include "translate/serve/serve_assets.h"

namespace tandem {
namespace {

using Clock = TranslationQueue::Clock;

constexpr std::size_t kDocumentWindow = 32;  // sentences of one document that wait at a time

HttpAnswer error_answer(int status, std::string_view what) {
  HttpAnswer answer{status, "application/json", {}, {}, {}};
  answer.body = Json::object().set("error", what).dump() + "\n";
  return answer;
}

HttpAnswer busy_answer(std::string_view what) {
  HttpAnswer answer = error_answer(503, what);
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

HttpAnswer page_part(const char* type, std::string_view body) {
  return {200,
          type,
          std::string(body),
          {{"Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
            "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-cache"}},
          {}};
}

Json json_of_translation(const LineTranslation& translation) {
  Json alternatives = Json::array();
  for (const TextHypothesis& hypothesis : translation.hypotheses) {
    alternatives.push(Json::object().set("text", hypothesis.text).set("score", hypothesis.score));
  }
  return Json::object()
      .set("text", translation.hypotheses.front().text)
      .set("score", translation.hypotheses.front().score)
      .set("alternatives", std::move(alternatives));
}

// "name:80", "[::1]:80" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

// A document under way: a window of it is in the queue, the rest waits here.
class DocumentStream {
 public:
  DocumentStream(TranslateRequest request, TranslationQueue& queue,
                 std::chrono::milliseconds timeout)
      : request_(std::move(request)), queue_(queue), timeout_(timeout) {}

  // The next sentence's line; false behind the last one.
  bool next(std::string& part) {
    if (answered_ == request_.sentences.size()) {
      part = Json::object().set("done", true).set("sentences", answered_).dump() + "\n";
      return false;
    }
    const auto deadline = Clock::now() + timeout_;
    while (!fill(deadline)) {
      if (Clock::now() > deadline) return fail("the server is busy; try again later", part);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    try {
      if (results_.front().wait_until(deadline) != std::future_status::ready) {
        return fail("a sentence took too long", part);
      }
      const LineTranslation translation = results_.front().get();
      part = Json::object()
                 .set("index", answered_)
                 .set("source", request_.sentences[answered_])
                 .set("text", translation.hypotheses.front().text)
                 .set("score", translation.hypotheses.front().score)
                 .dump() +
             "\n";
    } catch (const std::exception&) {  // the headers are out: all that is left is to say so
      return fail("the translation failed", part);
    }
    results_.pop_front();
    ++answered_;
    return true;
  }

 private:
  // False: the queue takes nothing now, and nothing of this document is in it.
  bool fill(Clock::time_point deadline) {
    while (sent_ < request_.sentences.size() && results_.size() < kDocumentWindow) {
      auto result = queue_.submit({request_.sentences[sent_]}, request_.search, deadline);
      if (!result) break;
      results_.push_back(std::move(result->front()));
      ++sent_;
    }
    return !results_.empty();
  }
  static bool fail(std::string_view what, std::string& part) {
    part = Json::object().set("error", what).dump() + "\n";
    return false;
  }

  TranslateRequest request_;
  TranslationQueue& queue_;
  std::chrono::milliseconds timeout_;
  std::size_t sent_ = 0, answered_ = 0;
  std::deque<std::future<LineTranslation>> results_;
};

}  // namespace

bool is_local_host(std::string_view host) {
  const bool is_number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || (is_number && host.starts_with("127."));
}

bool TranslationService::may_ask(const HttpRequest& request) const {
  if (settings_.token.empty()) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = request.authorization;
  return given.starts_with(kBearer) && equal_secrets(given.substr(kBearer.size()), settings_.token);
}

HttpAnswer TranslationService::answer(const HttpRequest& request) const {
  if (settings_.token.empty() && !settings_.any_host &&
      !is_local_host(without_port(request.host))) {
    return error_answer(403, "this server answers to 127.0.0.1, ::1 and localhost only");
  }
  const bool is_translate = request.path == "/translate";
  if (request.method == "GET" && !is_translate) return get(request);
  if (!is_translate) return error_answer(404, "there is nothing here; POST to /translate");
  if (request.method != "POST") {
    HttpAnswer refused = error_answer(405, "/translate takes POST");
    refused.headers.emplace_back("Allow", "POST");
    return refused;
  }
  return translate(request);
}

HttpAnswer TranslationService::get(const HttpRequest& request) const {
  if (request.path == "/") return page_part("text/html; charset=utf-8", assets::serve_html);
  if (request.path == "/serve.css") return page_part("text/css", assets::serve_css);
  if (request.path == "/serve.js") return page_part("text/javascript", assets::serve_js);
  if (request.path == "/health") {
    HttpAnswer answer;
    answer.body = Json::object().set("status", "ok").set("waiting", queue_.waiting()).dump() + "\n";
    return answer;
  }
  if (request.path != "/metrics") {
    return error_answer(404, "there is nothing here; there are /, /translate, /health, /metrics");
  }
  if (!may_ask(request)) return error_answer(401, "this needs the server's token");
  return {
      200, "text/plain; version=0.0.4", metrics_.text(queue_.waiting(), queue_.running()), {}, {}};
}

HttpAnswer TranslationService::translate(const HttpRequest& request) const {
  if (!may_ask(request)) {
    HttpAnswer refused = error_answer(401, "this needs the server's token");
    refused.headers.emplace_back("WWW-Authenticate", "Bearer");
    return refused;
  }
  // A browser sends this type to another site only after it asked whether it may.
  if (!request.content_type.starts_with("application/json")) {
    return error_answer(415, "the body must be application/json");
  }
  try {
    TranslateRequest parsed =
        parse_translate_request(request.body, settings_.search, settings_.limits);
    return parsed.kind == TranslateRequest::Kind::document ? translate_document(std::move(parsed))
                                                           : translate_all(std::move(parsed));
  } catch (const UserError& error) {  // the client's mistake, not ours to end for
    return error_answer(400, error.what());
  } catch (const EnvError& error) {
    return busy_answer(error.what());
  }
}

HttpAnswer TranslationService::translate_all(TranslateRequest request) const {
  const auto deadline = Clock::now() + settings_.timeout;
  auto results = queue_.submit(std::move(request.sentences), request.search, deadline);
  if (!results) return busy_answer("the server is busy; try again in a second");
  Json translations = Json::array();
  for (auto& result : *results) {
    if (result.wait_until(deadline) != std::future_status::ready) {
      return busy_answer("the translation took too long; try again with less text");
    }
    Json translation = json_of_translation(result.get());
    if (request.kind == TranslateRequest::Kind::text) {
      return {200, "application/json", translation.dump() + "\n", {}, {}};
    }
    translations.push(std::move(translation));
  }
  HttpAnswer answer;
  answer.body = Json::object().set("translations", std::move(translations)).dump() + "\n";
  return answer;
}

HttpAnswer TranslationService::translate_document(TranslateRequest request) const {
  const auto stream =
      std::make_shared<DocumentStream>(std::move(request), queue_, settings_.timeout);
  HttpAnswer answer;
  answer.type = "application/x-ndjson";
  answer.next_part = [stream](std::string& part) { return stream->next(part); };
  return answer;
}

}  // namespace tandem
