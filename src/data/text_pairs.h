// text_pairs: a parallel text as pairs of lines: two files, or one file with a tab between the
// sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/text_reader.h"

namespace tandem {

// Where a parallel text lies: as many files on both sides, or one with both.
struct PairFiles {
  TextFiles src, tgt;
  fs::path tsv;  // when set, src and tgt are empty
};

// Lines of the text. Refuses, before any work: a missing or empty file, unequal line counts of two
// files (both named).
std::uint64_t count_pairs(const PairFiles& files);

struct RawPair {
  std::string_view src, tgt;
  bool cut = false;     // a side is longer than the reader keeps
  bool no_tab = false;  // a TSV line without a tab: src holds all of it
};

class PairReader {
 public:
  explicit PairReader(const PairFiles& files);
  // The views live until the next call. Files that ended at different lines (they changed since
  // they were counted) are a UserError.
  bool next(RawPair& pair);
  std::uint64_t src_text_bytes() const;
  std::uint64_t tgt_text_bytes() const;

 private:
  PairFiles files_;
  TextReader first_;
  std::optional<TextReader> second_;
  std::uint64_t tsv_tgt_bytes_ = 0;
};

}  // namespace tandem
