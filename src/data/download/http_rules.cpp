#include "data/download/http_rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tandem {
namespace {

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::string if_range_value(const Origin& origin) {
  if (!origin.etag.empty() && !origin.etag.starts_with("W/")) return origin.etag;
  return origin.last_modified;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!take(text, "bytes ")) return std::nullopt;
  const auto first = take_number(text);
  if (!first || !take(text, "-")) return std::nullopt;
  const auto last = take_number(text);
  if (!last || *last < *first || !take(text, "/")) return std::nullopt;
  if (text == "*") return ContentRange{*first, *last, std::nullopt};
  const auto total = take_number(text);
  if (!total || *last >= *total || !text.empty()) return std::nullopt;
  return ContentRange{*first, *last, total};
}

bool continues(const ResponseHead& head, const Origin& origin, std::uint64_t have) {
  if (head.status != 206) return false;
  const auto range = parse_content_range(head.content_range);
  if (!range || range->first != have) return false;
  if (origin.total && range->total && *origin.total != *range->total) return false;
  if (!head.etag.empty() && head.etag != origin.etag) return false;
  return head.last_modified.empty() || head.last_modified == origin.last_modified;
}

Origin origin_of(const ResponseHead& head, std::string url) {
  return {std::move(url), head.etag, head.last_modified, head.content_length};
}

bool is_passing_trouble(long status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 ||
         status == 503 || status == 504;
}

double wait_before_retry(std::int64_t failures, double first_seconds, double retry_after_seconds) {
  const double doubled = first_seconds * std::exp2(static_cast<double>(failures - 1));
  return std::max(std::min(doubled, 30.0), std::min(retry_after_seconds, 120.0));
}

}  // namespace tandem
