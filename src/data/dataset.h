// dataset: is a prepared folder whole and of one piece?
#pragma once

#include "base/files.h"
#include "data/dataset_card.h"

namespace tandem {

// A file without a hash inside, against the card; throws UserError.
void verify_file(const fs::path& dataset, const DatasetCard& card, const std::string& name);

// Reads every byte: card, vocabulary, validation text, index and tokens of both parts, and that
// they belong together. Throws UserError naming the file (and the stretch) that is damaged.
DatasetCard verify_dataset(const fs::path& dataset);

}  // namespace tandem
