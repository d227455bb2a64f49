#include "translate/serve/service.h"

#include <algorithm>
#include <array>
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
constexpr std::array<std::string_view, 5> kGetPaths{"/", "/serve.css", "/serve.js", "/health",
                                                    "/metrics"};

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

HttpAnswer token_wanted() {
  HttpAnswer answer = error_answer(401, "this needs the server's token");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

HttpAnswer wrong_method(std::string_view path, const char* allowed) {
  HttpAnswer answer = error_answer(405, format("{} takes {}", path, allowed));
  answer.headers.emplace_back("Allow", allowed);
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

// HTTP takes names in large letters and in small ones for the same.
bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// "application/json ; charset=utf-8" without what stands behind the type.
std::string_view media_type(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return type.substr(0, type.find_last_not_of(" \t") + 1);
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
    } catch (const EnvError& error) {
      return fail(error.what(), part);
    } catch (const std::exception&) {  // the headers are out: all that is left is to say so
      return fail("the translation failed", part);
    }
    results_.pop_front();
    ++answered_;
    return true;
  }

 private:
  // False: the queue takes nothing now, and nothing of this document is in it. A sentence may wait
  // for those before it as long as each of them may take.
  bool fill(Clock::time_point deadline) {
    while (sent_ < request_.sentences.size() && results_.size() < kDocumentWindow) {
      const auto before = static_cast<std::int64_t>(results_.size());
      auto result =
          queue_.submit({request_.sentences[sent_]}, request_.search, deadline + timeout_ * before);
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
  return same_name(host, "localhost") || host == "::1" || (is_number && host.starts_with("127."));
}

bool TranslationService::may_ask(const HttpRequest& request) const {
  if (settings_.token.empty()) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = request.authorization;
  return same_name(given.substr(0, kBearer.size()), kBearer) &&
         equal_secrets(given.substr(kBearer.size()), settings_.token);
}

HttpAnswer TranslationService::answer(const HttpRequest& request) const {
  if (settings_.token.empty() && !settings_.any_host &&
      !is_local_host(without_port(request.host))) {
    return error_answer(403, "this server answers to 127.0.0.1, ::1 and localhost only");
  }
  if (request.path == "/translate") {
    return request.method == "POST" ? translate(request) : wrong_method(request.path, "POST");
  }
  if (std::ranges::find(kGetPaths, request.path) == kGetPaths.end()) {
    return error_answer(404, "there is nothing here; there are /, /translate, /health, /metrics");
  }
  return request.method == "GET" ? get(request) : wrong_method(request.path, "GET, HEAD");
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
  if (!may_ask(request)) return token_wanted();
  return {// /metrics
          200,
          "text/plain; version=0.0.4",
          metrics_.text(queue_.waiting(), queue_.running()),
          {},
          {}};
}

HttpAnswer TranslationService::translate(const HttpRequest& request) const {
  if (!may_ask(request)) return token_wanted();
  // A browser sends this type to another site only after it asked whether it may.
  if (!same_name(media_type(request.content_type), "application/json")) {
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
