// service: what `tandem serve` answers to a request: /translate, /health, /metrics and the page at
// /. Knows neither sockets nor Torch.
//
// Who may ask: with a token set, /translate and /metrics want it (Authorization: Bearer TOKEN).
// Without one, a Host header that is not this machine's own name for itself is refused, so that a
// web page cannot reach a server on loopback through a name of its own.
#pragma once

#include <chrono>
#include <string>

#include "translate/serve/http_server.h"
#include "translate/serve/serve_metrics.h"
#include "translate/serve/serve_request.h"
#include "translate/serve/translation_queue.h"

namespace tandem {

struct ServiceSettings {
  std::string token;  // empty: none
  bool any_host = false;
  SearchSettings search;
  RequestLimits limits;
  std::chrono::milliseconds timeout{30000};  // of a sentence: waiting and translating
};

class TranslationService {
 public:
  // queue and metrics outlive it.
  TranslationService(ServiceSettings settings, TranslationQueue& queue, const ServeMetrics& metrics)
      : settings_(std::move(settings)), queue_(queue), metrics_(metrics) {}

  // Any thread.
  HttpAnswer answer(const HttpRequest& request) const;

 private:
  HttpAnswer get(const HttpRequest& request) const;
  HttpAnswer translate(const HttpRequest& request) const;
  HttpAnswer translate_all(TranslateRequest request) const;
  HttpAnswer translate_document(TranslateRequest request) const;
  bool may_ask(const HttpRequest& request) const;

  const ServiceSettings settings_;
  TranslationQueue& queue_;
  const ServeMetrics& metrics_;
};

// 127.0.0.0/8, ::1 and localhost.
bool is_local_host(std::string_view host);

}  // namespace tandem
