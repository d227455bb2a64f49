// corpus_folder: what a folder that `tandem get` filled holds: corpus.json beside the files says
// which text of which archive is which part of the corpus.
#pragma once

#include <filesystem>
#include <optional>

#include "data/download/catalog.h"
#include "data/text_pairs.h"

namespace tandem {

void write_corpus_folder(const std::filesystem::path& folder, const KnownCorpus& corpus);

struct CorpusTexts {
  PairFiles train;
  std::optional<PairFiles> valid, test;
};

// Every file that a part names is compared with SHA256SUMS first. A folder without corpus.json, a
// file that is missing or another than was downloaded: UserError that says how to get it.
CorpusTexts read_corpus_folder(const std::filesystem::path& folder);

}  // namespace tandem
