#include "data/download/http_rules.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

const Origin kOrigin{"http://h/f", "\"v1\"", "Tue, 01 Jan 2019 00:00:00 GMT", 200};

ResponseHead rest_of_it() {
  return {206, kOrigin.etag, kOrigin.last_modified, "bytes 100-199/200", 100};
}

}  // namespace

TEST(HttpRules, OnlyAStrongETagOrADateIdentifiesAVersion) {
  EXPECT_EQ(if_range_value(kOrigin), "\"v1\"");
  EXPECT_EQ(if_range_value({"u", "W/\"v1\"", "a date", 1}), "a date");
  EXPECT_EQ(if_range_value({"u", "W/\"v1\"", "", 1}), "");
  EXPECT_EQ(if_range_value({"u", "", "", 1}), "");
}

TEST(HttpRules, ContentRangeIsReadStrictly) {
  const auto range = parse_content_range("bytes 100-199/200");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 100u);
  EXPECT_EQ(range->last, 199u);
  EXPECT_EQ(range->total, 200u);
  EXPECT_FALSE(parse_content_range("bytes 0-9/*").value().total);
  for (const char* wrong : {"", "bytes", "bytes */200", "bytes 5-4/200", "bytes 0-200/200",
                            "bytes -5-9/10", "bytes 0-9/10 ", "bytes 0-9", "items 0-9/10",
                            "bytes 0-99999999999999999999/100000000000000000000"}) {
    EXPECT_FALSE(parse_content_range(wrong)) << wrong;
  }
}

TEST(HttpRules, ARestIsAppendedOnlyWhenPlaceVersionAndSizeAgree) {
  EXPECT_TRUE(continues(rest_of_it(), kOrigin, 100));
  EXPECT_FALSE(continues(rest_of_it(), kOrigin, 99));
  const auto changed = [](auto change) {
    ResponseHead head = rest_of_it();
    change(head);
    return continues(head, kOrigin, 100);
  };
  EXPECT_FALSE(changed([](auto& h) { h.status = 200; }));
  EXPECT_FALSE(changed([](auto& h) { h.etag = "\"v2\""; }));
  EXPECT_FALSE(changed([](auto& h) { h.last_modified = "Wed, 02 Jan 2019 00:00:00 GMT"; }));
  EXPECT_FALSE(changed([](auto& h) { h.content_range = "bytes 100-200/201"; }));
  EXPECT_FALSE(changed([](auto& h) { h.content_range = ""; }));
  EXPECT_TRUE(changed([](auto& h) { h.etag = h.last_modified = ""; }));  // 206 may leave them out
}

TEST(HttpRules, WaitsDoubleUpToALimitAndFollowRetryAfter) {
  EXPECT_DOUBLE_EQ(wait_before_retry(1, 1.0, 0), 1.0);
  EXPECT_DOUBLE_EQ(wait_before_retry(4, 1.0, 0), 8.0);
  EXPECT_DOUBLE_EQ(wait_before_retry(2000, 1.0, 0), 30.0);
  EXPECT_DOUBLE_EQ(wait_before_retry(1, 1.0, 7), 7.0);
  EXPECT_DOUBLE_EQ(wait_before_retry(1, 1.0, 86400), 120.0);
}

TEST(HttpRules, AMissingFileIsNoPassingTrouble) {
  for (const long status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_passing_trouble(status));
  for (const long status : {400, 401, 403, 404, 410, 451, 501}) {
    EXPECT_FALSE(is_passing_trouble(status));
  }
}

}  // namespace tandem
