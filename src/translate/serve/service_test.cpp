#include "translate/serve/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/json.h"

namespace tandem {
namespace {

using testing::HasSubstr;

constexpr const char* kJson = "application/json";

// Translates into upper case.
void shout(const std::vector<std::string>& lines, const SearchSettings& search, const MoreLines&,
           const OnLine& tell) {
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::string text = lines[line];
    for (char& c : text) c = static_cast<char>(std::toupper(c));
    LineTranslation translation;
    for (std::int64_t i = 0; i < search.n_best; ++i) {
      translation.hypotheses.push_back(
          {text + std::string(static_cast<std::size_t>(i), '!'), {}, -1, -0.5});
    }
    tell(line, std::move(translation));
  }
}

// Its parts, one after the other.
std::string all_of(const HttpAnswer& answer) {
  std::string all, part;
  while (answer.next_part(part)) all += part;
  return all + part;
}

class Service : public testing::Test {
 protected:
  HttpAnswer ask(HttpRequest request) { return service(settings_).answer(request); }
  HttpAnswer post(const std::string& body, const std::string& authorization = "") {
    return ask({"POST", "/translate", "localhost:8080", authorization, "application/json", body});
  }
  HttpAnswer get(const std::string& path, const std::string& host = "127.0.0.1:8080") {
    return ask({"GET", path, host, "", "", ""});
  }
  TranslationService service(const ServiceSettings& settings) {
    return {settings, queue_, metrics_};
  }

  ServiceSettings settings_;
  ServeMetrics metrics_;
  TranslationQueue queue_{{.threads = 2, .most_waiting = 40}, shout};
};

TEST_F(Service, TranslatesOneAndMany) {
  const Json one = Json::parse(post(R"({"text": "a dog", "alternatives": 2})").body, "answer");
  EXPECT_EQ(one.at("text").as_string(), "A DOG");
  EXPECT_EQ(one.at("alternatives").items().size(), 2U);
  EXPECT_EQ(one.at("alternatives").items()[1].at("text").as_string(), "A DOG!");
  const Json many = Json::parse(post(R"({"texts": ["a", "", "b"]})").body, "answer");
  ASSERT_EQ(many.at("translations").items().size(), 3U);
  EXPECT_EQ(many.at("translations").items()[2].at("text").as_string(), "B");
  EXPECT_EQ(Json::parse(post(R"({"texts": []})").body, "answer").at("translations").items().size(),
            0U);
}

TEST_F(Service, ADocumentIsAnsweredSentenceBySentenceHoweverLong) {
  std::string document;
  for (int i = 0; i < 100; ++i) document += "Sentence " + std::to_string(i) + ". ";
  const HttpAnswer answer = post(Json::object().set("document", document).dump());
  ASSERT_TRUE(answer.next_part);
  std::string part;
  for (int i = 0; answer.next_part(part); ++i) {
    const Json line = Json::parse(part, "line");
    EXPECT_EQ(line.at("index").as_int(), i);
    EXPECT_EQ(line.at("text").as_string(), "SENTENCE " + std::to_string(i) + ".");
  }
  EXPECT_EQ(Json::parse(part, "line").at("sentences").as_int(), 100);
}

TEST_F(Service, ASentenceOfADocumentHasItsTimeHoweverManyWaitBeforeIt) {
  using std::chrono::milliseconds;
  settings_.timeout = milliseconds(500);
  TranslationQueue slow({.threads = 1, .batch_bytes = 1}, [](const auto& lines, const auto& search,
                                                             const auto& more, const auto& tell) {
    std::this_thread::sleep_for(milliseconds(25));
    shout(lines, search, more, tell);
  });
  std::string document;
  for (int i = 0; i < 40; ++i) document += "Some words.\n";
  const std::string body = Json::object().set("document", document).dump();
  const HttpAnswer answer = TranslationService(settings_, slow, metrics_)
                                .answer({"POST", "/translate", "localhost", "", kJson, body});
  EXPECT_THAT(all_of(answer), HasSubstr(R"({"done":true,"sentences":40})"));
}

TEST_F(Service, ADocumentEndsWithWhatWentWrong) {
  TranslationQueue broken({}, [](const auto&, const auto&, const auto&, const auto&) {
    throw EnvError("the device is gone");
  });
  const HttpAnswer answer =
      TranslationService(settings_, broken, metrics_)
          .answer({"POST", "/translate", "localhost", "", kJson, R"({"document": "a"})"});
  EXPECT_EQ(all_of(answer), "{\"error\":\"the device is gone\"}\n");
}

TEST_F(Service, OverloadIs503AndSaysWhenToComeBack) {
  Json texts = Json::array();
  for (int i = 0; i < 41; ++i) texts.push("a");
  const HttpAnswer answer = post(Json::object().set("texts", std::move(texts)).dump());
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.headers, testing::Contains(testing::Pair("Retry-After", "1")));
}

TEST_F(Service, ATokenIsAskedForWhereItMatters) {
  settings_.token = "0123456789abcdef";
  EXPECT_EQ(post(R"({"text": "a"})").status, 401);
  EXPECT_EQ(post(R"({"text": "a"})", "Bearer 0123456789abcdeF").status, 401);
  EXPECT_EQ(post(R"({"text": "a"})", "Bearer ").status, 401);
  EXPECT_EQ(post(R"({"text": "a"})", "Bearer 0123456789abcdef").status, 200);
  EXPECT_EQ(post(R"({"text": "a"})", "bearer 0123456789abcdef").status, 200);
  for (const HttpAnswer& refused : {get("/metrics"), post(R"({"text": "a"})")}) {
    EXPECT_EQ(refused.status, 401);
    EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("WWW-Authenticate", "Bearer")));
  }
  EXPECT_EQ(get("/health", "any.example").status, 200);
}

TEST_F(Service, WithoutATokenOnlyOwnNamesAreAnswered) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:1", "localhost:8080", "LocalHost", "[::1]:8080"}) {
    EXPECT_EQ(get("/health", host).status, 200) << host;
  }
  for (const char* host : {"", "evil.example", "127.evil.example:8080", "10.0.0.1"}) {
    EXPECT_EQ(get("/health", host).status, 403) << host;
  }
}

TEST_F(Service, WhatIsWrongHasItsStatus) {
  EXPECT_EQ(post("{").status, 400);
  EXPECT_EQ(get("/translate").status, 405);
  EXPECT_EQ(get("/nothing").status, 404);
  EXPECT_EQ(ask({"POST", "/nothing", "localhost", "", "application/json", ""}).status, 404);
  EXPECT_EQ(ask({"POST", "/translate", "localhost", "", "text/plain", R"({"text": "a"})"}).status,
            415);
  EXPECT_EQ(ask({"DELETE", "/translate", "localhost", "", "", ""}).status, 405);
  for (const char* path : {"/", "/serve.js", "/health", "/metrics"}) {
    const HttpAnswer refused = ask({"POST", path, "localhost", "", kJson, "{}"});
    EXPECT_EQ(refused.status, 405) << path;
    EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("Allow", "GET, HEAD")));
  }
}

TEST_F(Service, TheTypeIsReadAsHttpWritesIt) {
  const auto status_of = [&](const char* type) {
    return ask({"POST", "/translate", "localhost", "", type, R"({"text": "a"})"}).status;
  };
  for (const char* type :
       {"application/json", "Application/JSON", "application/json ; charset=utf-8"}) {
    EXPECT_EQ(status_of(type), 200) << type;
  }
  for (const char* type :
       {"", "application/jsonp", "application/json-seq", "text/plain;application/json"}) {
    EXPECT_EQ(status_of(type), 415) << type;
  }
}

TEST_F(Service, ThePageAsksNobodyElse) {
  const HttpAnswer page = get("/");
  EXPECT_THAT(page.headers, testing::Contains(testing::Pair("Content-Security-Policy",
                                                            HasSubstr("default-src 'none'"))));
  EXPECT_THAT(page.body, testing::Not(HasSubstr("http")));
}

TEST(ServeMetrics, CountsAsPrometheusReads) {
  ServeMetrics metrics;
  metrics.visit(200, 0.02);
  metrics.visit(200, 20);
  metrics.visit(503, 0.0);
  for (int i = 0; i < 3; ++i) metrics.sentence(10, 12);
  const std::string text = metrics.text(7, 2);
  for (const char* line :
       {"tandem_requests_total{code=\"200\"} 2\n", "tandem_requests_total{code=\"503\"} 1\n",
        "tandem_request_seconds_bucket{le=\"0.01\"} 1\n",
        "tandem_request_seconds_bucket{le=\"0.025\"} 2\n",
        "tandem_request_seconds_bucket{le=\"+Inf\"} 3\n", "tandem_request_seconds_count 3\n",
        "tandem_sentences_total 3\n", "tandem_source_tokens_total 30\n",
        "tandem_waiting_sentences 7\n", "tandem_running_sentences 2\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace tandem
