// import_huggingface: a MarianMT directory (transformers: config.json, model.safetensors,
// source.spm, vocab.json ...) as a model folder, to translate, evaluate or serve it. What
// export_huggingface() writes comes back to the bit; weights in half precision become fp32.
#pragma once

#include "translate/export/out_folder.h"

namespace tandem {

// A model that tandem does not compute in the same way is a UserError that says what differs.
void import_huggingface(const fs::path& directory, const OutFolder& out);

}  // namespace tandem
