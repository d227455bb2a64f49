// ctranslate2: a model as CTranslate2 reads it, any model that tandem trains. Text is encoded by
// the SentencePiece model that lies beside it (vocab.model).
#pragma once

#include "translate/export/out_folder.h"
#include "translate/translation_model.h"

namespace tandem {

enum class NumberFormat { float32, int8 };

// model: on the CPU.
void export_ctranslate2(const TranslationModel& model, NumberFormat numbers, const OutFolder& out);

}  // namespace tandem
