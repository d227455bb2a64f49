#include "data/resample.h"

#include "base/error.h"
#include "base/format.h"
#include "base/rng.h"
#include "data/mixture.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSamplingStream = 0x7375627764u;  // "subwd"

}  // namespace

Resampler::Resampler(std::shared_ptr<const Vocab> vocab, const SubwordSampling& sampling,
                     std::uint64_t seed, std::int64_t max_length)
    : vocab_(std::move(vocab)),
      sampling_(sampling),
      seed_(seed),
      most_ids_(static_cast<std::size_t>(max_length - 1)) {
  const std::string& type = vocab_->type();
  if (type != "bpe" && type != "unigram") {
    throw UserError(
        format("data.sampling needs a vocabulary of type bpe or unigram, but the dataset's is {}; "
               "set data.sampling=null",
               type));
  }
  if (type == "bpe" && sampling_.nbest) {
    throw UserError(
        "data.sampling_nbest is for unigram vocabularies, but the dataset's is bpe; set "
        "data.sampling_nbest=null");
  }
}

std::vector<ResampledPair> Resampler::operator()(const Mixture& corpus, DataCursor cursor,
                                                 const CostModel& cost,
                                                 std::vector<Sentence>& sentences) const {
  const std::uint64_t batch =
      random_bits(mix64(seed_) ^ kSamplingStream, static_cast<std::uint64_t>(cursor.epoch),
                  static_cast<std::uint64_t>(cursor.next));
  std::vector<std::int32_t> sample;
  const auto resample = [&](std::vector<std::int32_t>& ids, std::int32_t place, bool src) {
    const std::uint64_t key = random_bits(batch, src ? 0 : 1, static_cast<std::uint64_t>(place));
    if (vocab_->sample(ids, sampling_, key, sample) && sample.size() <= most_ids_) {
      ids.swap(sample);
    }
    return static_cast<std::int32_t>(ids.size()) + 1;  // with its mark
  };
  std::vector<ResampledPair> pairs;
  pairs.reserve(sentences.size());
  for (Sentence& sentence : sentences) {
    ResampledPair& pair = pairs.emplace_back();
    pair.src.resize(static_cast<std::size_t>(sentence.src_tokens) - 1);
    pair.tgt.resize(static_cast<std::size_t>(sentence.tgt_tokens) - 1);
    corpus.copy_src(sentence.pair, pair.src.data());
    corpus.copy_tgt(sentence.pair, pair.tgt.data());
    sentence.src_tokens = resample(pair.src, sentence.place, true);
    sentence.tgt_tokens = resample(pair.tgt, sentence.place, false);
    sentence.cost = cost(static_cast<std::uint64_t>(sentence.src_tokens),
                         static_cast<std::uint64_t>(sentence.tgt_tokens));
    sentence.pair = static_cast<std::uint32_t>(pairs.size() - 1);
  }
  return pairs;
}

}  // namespace tandem
