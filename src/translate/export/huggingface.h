// huggingface: a model as transformers' MarianMTModel and MarianTokenizer read it. They compute
// post-norm models with sinusoidal positions only (huggingface_obstacle() in config).
#pragma once

#include "translate/export/out_folder.h"
#include "translate/translation_model.h"

namespace tandem {

// model: on the CPU. One that MarianMTModel cannot compute is a UserError.
void export_huggingface(const TranslationModel& model, const OutFolder& out);

}  // namespace tandem
