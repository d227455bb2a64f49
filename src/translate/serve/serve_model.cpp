#include "translate/serve/serve_model.h"

#include <ATen/Parallel.h>

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
  const auto translate = [&](std::vector<std::string> lines, const SearchSettings& search,
                             const MoreLines& more, const OnLine& tell) {
    TranslateSettings own = settings.translate;
    own.search = search;
    translate_arriving(*model.decoder, *model.vocab, std::move(lines), own, more,
                       [&](std::size_t line, LineTranslation translation) {
                         metrics.sentence(translation.source_tokens, written_tokens(translation));
                         tell(line, std::move(translation));
                       });
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
