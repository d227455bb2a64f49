#include "translate/bleu_tokenizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/format.h"
#include "translate/python_text.h"

namespace tandem {

// The words with one blank between them, as sacreBLEU's tokenizers return them.
std::string tokenized(BleuTokenizer tokenizer, std::string_view line) {
  const std::string separated = separate_words(tokenizer, line);
  std::vector<std::string_view> words;
  split_words(separated, words);
  return format("{}", join(words, " "));
}

struct Example {
  std::string_view line, expected;  // expected: from sacreBLEU 2.6.0
};

TEST(BleuTokenizer, Cuts13aAsSacrebleu) {
  for (const auto& [line, expected] : {
           Example{"Er sagte: \"Häuser, 1.000,50 EUR\" (netto).",
                   "Er sagte : \" Häuser , 1.000,50 EUR \" ( netto ) ."},
           Example{"a.b 5.x x.5 5.. ..5 5.,.7 1984.",
                   "a . b 5 . x x . 5 5 . . . .5 5 . , .7 1984 ."},
           Example{"3-4 a-b well-\nknown line\nbreak", "3 - 4 a-b wellknown line break"},
           Example{"&quot;x&quot; &amp;lt; &gt; <skipped>y", "\" x \" < > y"},
           Example{"-5 +5 a_b/c~d", "-5 + 5 a _ b / c ~ d"},
           Example{".", "."},
           Example{",,,", ", , ,"},
           Example{"日本語。中文,x", "日本語。中文 , x"},
           Example{"", ""},
       }) {
    EXPECT_EQ(tokenized(BleuTokenizer::v13a, line), expected);
  }
}

TEST(BleuTokenizer, CutsIntlAsSacrebleu) {
  for (const auto& [line, expected] : {
           Example{"Er sagte: „Häuser“, 1.000,50 €.", "Er sagte : „ Häuser “ , 1.000,50 € ."},
           Example{"1984.", "1984."},
           Example{"5€+3=8", "5 € + 3 = 8"},
           Example{"½. ².x ٣,٤", "½ . ² . x ٣,٤"},
           Example{"a...b", "a . . . b"},
           Example{"日本語。中文", "日本語 。 中文"},
           Example{"&quot;x&quot;", "& quot ; x & quot ;"},
           Example{"e\u0301—x", "e\u0301 — x"},
       }) {
    EXPECT_EQ(tokenized(BleuTokenizer::intl, line), expected);
  }
}

TEST(BleuTokenizer, NoneKeepsTheWords) {
  EXPECT_EQ(tokenized(BleuTokenizer::none, " a.b, &amp; (c)\u2028d "), "a.b, &amp; (c) d");
}

TEST(BleuTokenizer, NamesReadBack) {
  for (const std::string_view name : {"13a", "intl", "none"}) {
    EXPECT_EQ(tokenizer_name(tokenizer_named(name)), name);
  }
  EXPECT_THROW(tokenizer_named("zh"), UserError);
}

}  // namespace tandem
