// tandem serve: a model behind HTTP.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>

#include "base/format.h"
#include "base/signals.h"
#include "cli/translate_options.h"
#include "cli/verbs.h"
#include "cluster/env_map.h"
#include "translate/serve/serve_model.h"

namespace tandem {
namespace {

constexpr const char* kTokenVariable = "TANDEM_SERVE_TOKEN";
constexpr std::size_t kShortestToken = 16;

struct Options {
  TranslateOptions common;
  HttpSettings http;
  std::string token_file;
  bool allow_anyone = false;
  std::int64_t body_kb = 1024, queue = 512, timeout = 30, linger_ms = 2, most_texts = 256,
               most_beam = 16;
};

std::string stripped(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string token_of(const Options& options, const EnvMap& env) {
  const auto found = env.find(kTokenVariable);
  if (options.token_file.empty() && found == env.end()) return {};
  const std::string token =
      options.token_file.empty() ? found->second : stripped(read_file(options.token_file));
  if (token.size() < kShortestToken) {
    throw UserError(
        format("{}: a token of fewer than {} characters is no secret; make one with "
               "`openssl rand -hex 16`",
               options.token_file.empty() ? kTokenVariable : options.token_file, kShortestToken));
  }
  return token;
}

ServeSettings serve_settings(const Options& options, const TranslationModel& model,
                             const EnvMap& env) {
  ServeSettings settings;
  settings.http = options.http;
  settings.http.most_body_bytes = static_cast<std::size_t>(options.body_kb) << 10;
  settings.translate = settings_of(model, options.common);
  settings.service.search = settings.translate.search;
  settings.service.token = token_of(options, env);
  settings.service.any_host = !is_local_host(options.http.host);
  settings.service.timeout = std::chrono::seconds(options.timeout);
  settings.service.limits = {static_cast<std::size_t>(options.most_texts),
                             std::max(options.most_beam, settings.translate.search.beam)};
  settings.queue.threads = settings.translate.threads;
  settings.queue.most_waiting =
      static_cast<std::size_t>(std::max(options.queue, options.most_texts));
  settings.queue.batch_bytes = static_cast<std::size_t>(4 * options.common.batch_tokens);
  settings.queue.linger = std::chrono::milliseconds(options.linger_ms);
  if (settings.service.any_host && settings.service.token.empty() && !options.allow_anyone) {
    throw UserError(
        format("--host {} can be reached by other machines; give a --token-file (or {}), "
               "or --allow-anyone if that is meant",
               options.http.host, kTokenVariable));
  }
  return settings;
}

// No text of anybody's is in it.
void log_visit(const HttpVisit& visit) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char time[32];
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::fputs(format("{} {} {} {} {} {:.1f} ms\n", time, visit.from, visit.method, visit.path,
                    visit.status, 1000 * visit.seconds)
                 .c_str(),
             stderr);
}

ExitCode serve(const Options& options) {
  const TranslationModel model = open_model(options.common);
  const ServeSettings settings = serve_settings(options, model, process_environment());
  ::signal(SIGPIPE, SIG_IGN);  // a client that leaves early is no reason to end
  const StopSignals signals;
  const auto ready = [&](std::int64_t port) {
    const std::string host = options.http.host.find(':') == std::string::npos
                                 ? options.http.host
                                 : "[" + options.http.host + "]";
    std::fputs(
        format("serving {} at http://{}:{}/; Ctrl-C ends\n", model.folder.string(), host, port)
            .c_str(),
        stdout);
    std::fflush(stdout);
  };
  serve_model(model, settings, ready, log_visit, signals.flag());
  std::fputs("all that was asked is answered\n", stdout);
  return ExitCode::ok;
}

}  // namespace

void add_serve(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("serve", "Translate over HTTP: a JSON interface and a page to try it");
  add_translate_options(verb, o->common);
  verb.option("--host", o->http.host, "address to listen at; others than loopback need a token");
  verb.option("--port", o->http.port, "port to listen at; 0: any free one", 0, 65535);
  verb.option("--token-file", o->token_file,
              "file with the secret that clients must send (Authorization: Bearer ...); else the "
              "variable TANDEM_SERVE_TOKEN, if set");
  verb.flag("--allow-anyone", o->allow_anyone, "listen beyond this machine without a token");
  verb.option("--connections", o->http.connections, "connections served at a time; others wait", 1,
              4096);
  verb.option("--queue", o->queue, "sentences that may wait; above it clients get 503", 1, 1 << 20);
  verb.option("--timeout", o->timeout, "seconds that a sentence may take, waiting included", 1,
              3600);
  verb.option("--linger-ms", o->linger_ms, "milliseconds to wait for more sentences to a batch", 0,
              1000);
  verb.option("--max-body-kb", o->body_kb, "largest request", 1, 1 << 20);
  verb.option("--max-texts", o->most_texts, "most texts in a request", 1, 1 << 20);
  verb.option("--max-beam", o->most_beam, "widest beam that a request may ask for", 1, 256);
  verb.run([o] { return serve(*o); });
}

}  // namespace tandem
