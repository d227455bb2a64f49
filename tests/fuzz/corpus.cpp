// Prepared datasets: the index and tokens of a part. Hashes are put right half of the time, or
// nothing behind their check would ever be reached.
#include "data/corpus.h"

#include <cstddef>

#include "base/error.h"
#include "base/hash.h"
#include "data/corpus_format.h"
#include "data/corpus_writer.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

std::string with_right_hashes(std::string index, std::string_view tokens) {
  if (index.size() < sizeof(CorpusHeader)) return index;
  if (!tokens.empty())
    put_number(index, index.size() - 8, hash64(tokens.substr(0, kHashBlockBytes)));
  const std::string_view body = std::string_view(index).substr(sizeof(CorpusHeader));
  put_number(index, offsetof(CorpusHeader, body_hash), hash64(body));
  const std::string_view head =
      std::string_view(index).substr(0, offsetof(CorpusHeader, header_hash));
  put_number(index, offsetof(CorpusHeader, header_hash), hash64(head));
  return index;
}

void read_any_corpus(std::string_view input) {
  const auto parts = split_parts(input, 3);
  const bool mend = parts[0].empty();
  scratch_file("any.tokens", parts[2]);
  scratch_file("any.index", mend ? with_right_hashes(std::string(parts[1]), parts[2]) : parts[1]);
  const Corpus corpus(scratch_folder(), "any");
  corpus.verify();
  const PairLengths lengths = corpus.lengths();
  for (std::size_t pair = 0; pair < corpus.size(); ++pair) {
    std::vector<std::int32_t> src(static_cast<std::size_t>(lengths.src(pair)));
    std::vector<std::int32_t> tgt(static_cast<std::size_t>(lengths.tgt(pair)));
    corpus.copy_src(pair, src.data());
    corpus.copy_tgt(pair, tgt.data());
    for (const std::int32_t id : src) check(id >= 0 && id < corpus.vocab_size(), "an id outside");
    for (const std::int32_t id : tgt) check(id >= 0 && id < corpus.vocab_size(), "an id outside");
  }
}

std::vector<std::string> corpus_seeds() {
  std::vector<std::string> seeds;
  for (const std::int32_t vocabulary : {100, 70000}) {
    CorpusWriter writer(scratch_folder(), "seed", {{0, 1, 2, 3}, vocabulary, 0xabcd});
    const std::vector<std::int32_t> a{4, 5, 6, 99}, b{7, 8}, none;
    writer.add(a, b);
    writer.add(none, a);
    writer.add(b, a);
    writer.finish();
    const std::string index = read_file(scratch_folder() / "seed.index");
    const std::string tokens = read_file(scratch_folder() / "seed.tokens");
    for (const char* mend : {"", "-"}) {
      seeds.push_back(joined_parts(std::vector<std::string>{mend, index, tokens}));
    }
  }
  return seeds;
}

const FuzzTarget kCorpusTarget{"corpus", read_any_corpus, corpus_seeds, 1000};

}  // namespace
}  // namespace tandem
