#include "translate/serve/serve_model.h"

#include <ATen/Parallel.h>

#include <chrono>

namespace tandem {
namespace {

std::size_t written_tokens(const LineTranslation& translation) {
  return translation.hypotheses.front().tokens.size();
}

}  // namespace

void serve_model(const TranslationModel& model, const ServeSettings& settings,
                 const std::function<void(std::int64_t port)>& ready,
                 const HttpServer::OnVisit& on_visit, const std::atomic<bool>& stop) {
  at::set_num_threads(1);  // each thread of the queue translates a batch alone
  ServeMetrics metrics;
  const auto translate = [&](std::span<const std::string> lines, const SearchSettings& search,
                             const OnLine& tell) {
    const auto start = TranslationQueue::Clock::now();
    TranslateSettings own = settings.translate;
    own.search = search;
    own.threads = 1;
    auto translations = translate_lines(*model.decoder, *model.vocab, lines, own, tell);
    std::size_t read = 0, written = 0;
    for (const LineTranslation& translation : translations) {
      read += translation.source_tokens;
      written += written_tokens(translation);
    }
    const std::chrono::duration<double> seconds = TranslationQueue::Clock::now() - start;
    metrics.batch(lines.size(), read, written, seconds.count());
    return translations;
  };
  TranslationQueue queue(settings.queue, translate);
  const TranslationService service(settings.service, queue, metrics);
  HttpServer server(
      settings.http, [&](const HttpRequest& request) { return service.answer(request); },
      [&](const HttpVisit& visit) {
        metrics.visit(visit.status, visit.seconds);
        on_visit(visit);
      });
  ready(server.port());
  server.run(stop);
}

}  // namespace tandem
