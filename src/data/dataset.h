// dataset: is a prepared folder whole and of one piece, and may another one take its place?
#pragma once

#include <string>

#include "base/files.h"
#include "data/dataset_card.h"

namespace tandem {

// A file without a hash inside, against the card; throws UserError.
void verify_file(const fs::path& dataset, const DatasetCard& card, const std::string& name);

// Reads every byte: card, vocabulary, validation text, index and tokens of both parts, and that
// they belong together. Throws UserError naming the file (and the stretch) that is damaged.
DatasetCard verify_dataset(const fs::path& dataset);

// Why no dataset may take the place of what is there, which it would delete: a sentence; empty
// where there is nothing, an empty folder, or a dataset, damaged or not, and nothing else.
std::string reason_not_to_replace(const fs::path& folder);

}  // namespace tandem
