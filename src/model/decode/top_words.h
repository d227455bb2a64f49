// top_words: the largest values of each row of a table of log probabilities.
#pragma once

#include "model/decode/word_table.h"
#include "model/tensor.h"

namespace tandem {

// logs [rows, vocabulary], fp32, any device; what choice.never names is overwritten.
void top_words(const Tensor& logs, const WordChoice& choice, WordTable& words);

}  // namespace tandem
