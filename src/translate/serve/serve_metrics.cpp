#include "translate/serve/serve_metrics.h"

#include <algorithm>

#include "base/format.h"

namespace tandem {
namespace {

// The lines that come before a metric's values.
std::string head(const char* name, const char* kind, const char* sentence) {
  return format("# HELP tandem_{0} {2}\n# TYPE tandem_{0} {1}\n", name, kind, sentence);
}

template <class Number>
std::string metric(const char* name, const char* kind, Number value, const char* sentence) {
  return head(name, kind, sentence) + format("tandem_{} {}\n", name, value);
}

}  // namespace

void ServeMetrics::visit(int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[status];
  ++by_seconds_[static_cast<std::size_t>(std::ranges::lower_bound(kBounds, seconds) -
                                         kBounds.begin())];
  request_seconds_ += seconds;
}

void ServeMetrics::sentence(std::size_t source_tokens, std::size_t target_tokens) {
  const std::lock_guard lock(mutex_);
  ++sentences_;
  source_tokens_ += source_tokens;
  target_tokens_ += target_tokens;
}

std::string ServeMetrics::text(std::size_t waiting, std::size_t running) const {
  const std::lock_guard lock(mutex_);
  std::string text = head("requests_total", "counter", "Requests answered, by status.");
  for (const auto& [status, count] : requests_) {
    text += format("tandem_requests_total{{code=\"{}\"}} {}\n", status, count);
  }
  text += head("request_seconds", "histogram", "Time until a request's answer was ready.");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < by_seconds_.size(); ++i) {
    count += by_seconds_[i];
    const std::string bound = i < kBounds.size() ? format("{}", kBounds[i]) : "+Inf";
    text += format("tandem_request_seconds_bucket{{le=\"{}\"}} {}\n", bound, count);
  }
  text += format("tandem_request_seconds_sum {}\ntandem_request_seconds_count {}\n",
                 request_seconds_, count);
  text += metric("sentences_total", "counter", sentences_, "Sentences translated.");
  text += metric("source_tokens_total", "counter", source_tokens_, "Subwords read.");
  text += metric("target_tokens_total", "counter", target_tokens_, "Subwords written.");
  text += metric("waiting_sentences", "gauge", waiting, "Sentences in the queue.");
  text += metric("running_sentences", "gauge", running, "Sentences being translated.");
  return text;
}

}  // namespace tandem
