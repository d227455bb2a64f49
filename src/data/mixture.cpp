#include "data/mixture.h"

#include "base/error.h"
#include "base/hash.h"
#include "data/corpus.h"

namespace tandem {

Mixture::Mixture(const Corpus& corpus) : Mixture(std::vector<Part>{{&corpus, 1}}) {}

Mixture::Mixture(std::span<const Part> parts) {
  check(!parts.empty(), "a mixture of nothing");
  for (const Part& part : parts) {
    corpora_.push_back(part.corpus);
    bounds_.push_back(part.corpus->bounds());
    shares_.push_back({part.corpus->fingerprint(), part.corpus->size(), fixed_weight(part.weight)});
  }
  fingerprint_ = shares_.front().fingerprint;
  if (shares_.size() == 1 && shares_.front().weight == kOnce) return;
  Hasher64 hasher;
  for (const CorpusShare& share : shares_) {
    for (const std::uint64_t number : {share.fingerprint, share.weight}) {
      hasher.add(std::as_bytes(std::span(&number, 1)));
    }
  }
  fingerprint_ = hasher.value();
}

PairLengths Mixture::lengths() const {
  return PairLengths(bounds_.front(), std::span(bounds_).subspan(1));
}

const Corpus& Mixture::corpus_of(std::size_t& pair) const {
  std::size_t at = 0;
  for (; pair >= shares_[at].pairs; ++at) pair -= shares_[at].pairs;
  return *corpora_[at];
}

void Mixture::copy_src(std::size_t pair, std::int32_t* out) const {
  const Corpus& corpus = corpus_of(pair);
  corpus.copy_src(pair, out);
}

void Mixture::copy_tgt(std::size_t pair, std::int32_t* out) const {
  const Corpus& corpus = corpus_of(pair);
  corpus.copy_tgt(pair, out);
}

const SpecialIds& Mixture::special_ids() const {
  return corpora_.front()->special_ids();
}

}  // namespace tandem
