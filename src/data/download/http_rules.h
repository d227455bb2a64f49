// http_rules: what an HTTP answer means for a download that may have begun earlier. Pure functions;
// download.cpp asks them and acts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

// Which version of which file the bytes at hand belong to, as the server told with their first one.
struct Origin {
  std::string url;
  std::string etag;           // "" when the server gave none
  std::string last_modified;  // likewise
  std::optional<std::uint64_t> total;
  bool operator==(const Origin&) const = default;
};

struct ResponseHead {
  long status = 0;
  std::string etag, last_modified, content_range;
  std::optional<std::uint64_t> content_length;
};

// The validator for an If-Range header: a strong ETag, else Last-Modified, else "": nothing tells
// the server which version we began with, so such a download starts over.
std::string if_range_value(const Origin& origin);

// "bytes 100-199/200"; total is absent in "bytes 100-199/*".
struct ContentRange {
  std::uint64_t first = 0, last = 0;
  std::optional<std::uint64_t> total;
};
std::optional<ContentRange> parse_content_range(std::string_view text);

// True when the body goes right behind the `have` bytes at hand and is of the same version.
// A server that answers 206 with another ETag, size or place is not believed.
bool continues(const ResponseHead& head, const Origin& origin, std::uint64_t have);

// The origin that a full body (status 200) tells of.
Origin origin_of(const ResponseHead& head, std::string url);

// Statuses that may be gone at the next attempt: overload, time-outs, a proxy without its server.
bool is_passing_trouble(long status);

// Before retry number `failures` (from 1): first, twice that, ... at most 30 s; longer when the
// server asks for it by Retry-After, but never over 2 minutes.
double wait_before_retry(std::int64_t failures, double first_seconds, double retry_after_seconds);

}  // namespace tandem
