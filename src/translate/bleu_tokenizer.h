// bleu_tokenizer: how BLEU cuts a line into words: sacreBLEU's tokenizers 13a, intl and none.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

enum class BleuTokenizer { v13a, intl, none };

// "13a", "intl", "none": as on the command line and in signatures.
std::string_view tokenizer_name(BleuTokenizer tokenizer);
BleuTokenizer tokenizer_named(std::string_view name);  // UserError for other names

// The line with white space wherever it is to be cut: its words are those of split_words(). The
// amount of white space carries no meaning.
std::string separate_words(BleuTokenizer tokenizer, std::string_view line);

}  // namespace tandem
