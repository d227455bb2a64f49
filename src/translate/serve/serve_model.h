// serve_model: a model behind an HTTP server until it is told to stop. Torch does not show.
#pragma once

#include <atomic>
#include <functional>

#include "translate/serve/http_server.h"
#include "translate/serve/service.h"
#include "translate/translation_model.h"

namespace tandem {

struct ServeSettings {
  HttpSettings http;
  ServiceSettings service;
  QueueSettings queue;
  TranslateSettings translate;  // its search is service.search
};

// ready: called with the port when requests are taken. on_visit: for the log, from many threads.
// When it is told to stop it answers what it has taken, then returns.
void serve_model(const TranslationModel& model, const ServeSettings& settings,
                 const std::function<void(std::int64_t port)>& ready,
                 const HttpServer::OnVisit& on_visit, const std::atomic<bool>& stop);

}  // namespace tandem
