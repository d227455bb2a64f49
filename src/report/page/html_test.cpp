#include "report/page/html.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Html, NothingFromOutsideBecomesMarkup) {
  EXPECT_EQ(html_text("<script>alert('x')</script> & \"q\" `b`"),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;q&quot; &#96;b&#96;");
  EXPECT_EQ(html_text("a\x1b[31mb\xff\nc\xe2\x80\xae"),
            "a\xef\xbf\xbd[31mb\xef\xbf\xbd\nc\xef\xbf\xbd");
  EXPECT_EQ(html_text("äöü ☃"), "äöü ☃");
}

TEST(Html, LongTextIsCutAtACharacter) {
  EXPECT_EQ(html_text("ääää", 4), "ää …");
}

TEST(Html, JsonCannotEndItsScript) {
  EXPECT_EQ(script_json(R"({"a":"</script><!--"})"), R"({"a":"\u003c/script\u003e\u003c!--"})");
}

TEST(Html, ThePolicyHashIsTheBrowsers) {
  // echo -n 'doSomething();' | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(policy_hash("doSomething();"), "'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc='");
}

}  // namespace
}  // namespace tandem
