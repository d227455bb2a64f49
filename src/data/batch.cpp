#include "data/batch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "data/mixture.h"
#include "data/resample.h"

namespace tandem {
namespace {

std::vector<std::int32_t> offsets_of(std::span<const Sentence> sentences,
                                     std::int32_t Sentence::*tokens) {
  std::vector<std::int32_t> offsets{0};
  offsets.reserve(sentences.size() + 1);
  std::int64_t end = 0;
  for (const Sentence& sentence : sentences) {
    end += sentence.*tokens;
    check(end <= std::numeric_limits<std::int32_t>::max(), "a micro-batch of over 2^31 tokens");
    offsets.push_back(static_cast<std::int32_t>(end));
  }
  return offsets;
}

}  // namespace

Batch pack(const Mixture& corpus, std::span<const Sentence> sentences,
           std::span<const ResampledPair> resampled) {
  const SpecialIds& special = corpus.special_ids();
  Batch batch;
  batch.src_offsets = offsets_of(sentences, &Sentence::src_tokens);
  batch.tgt_offsets = offsets_of(sentences, &Sentence::tgt_tokens);
  batch.src_ids.resize(static_cast<std::size_t>(batch.src_offsets.back()));
  batch.tgt_in.resize(static_cast<std::size_t>(batch.tgt_offsets.back()));
  batch.tgt_out.resize(batch.tgt_in.size());
  batch.places.reserve(sentences.size());

  std::int32_t* src = batch.src_ids.data();
  std::int32_t* in = batch.tgt_in.data();
  std::int32_t* out = batch.tgt_out.data();
  const auto copy_ids = [&](const Sentence& sentence, std::int32_t* to_src, std::int32_t* to_tgt) {
    if (!resampled.empty()) {
      const ResampledPair& pair = resampled[sentence.pair];
      std::ranges::copy(pair.src, to_src);
      std::ranges::copy(pair.tgt, to_tgt);
    } else {
      corpus.copy_src(sentence.pair, to_src);
      corpus.copy_tgt(sentence.pair, to_tgt);
    }
  };
  for (const Sentence& sentence : sentences) {
    copy_ids(sentence, src, out);
    src += sentence.src_tokens;
    src[-1] = special.eos;

    in[0] = special.bos;
    std::copy_n(out, sentence.tgt_tokens - 1, in + 1);
    in += sentence.tgt_tokens;
    out += sentence.tgt_tokens;
    out[-1] = special.eos;

    batch.places.push_back(sentence.place);
  }
  return batch;
}

StepBatch make_step(const Mixture& corpus, const BatchPlan& plan, DataCursor cursor,
                    const CutSetting& cut, const Resampler* resampler) {
  const auto index = static_cast<std::size_t>(cursor.next);
  check(cursor.next >= 0 && index < plan.batches(), "no such batch in the plan");
  check(cut.slot.rank < cut.slot.world, "a rank must be below the number of workers");

  const auto sentences = measure_sentences(corpus.lengths(), plan.batch(index), cut.cost);
  StepBatch step;
  step.cursor = cursor;
  step.after = index + 1 < plan.batches() ? DataCursor{cursor.epoch, cursor.next + 1}
                                          : DataCursor{cursor.epoch + 1, 0};
  step.batches_in_epoch = static_cast<std::int64_t>(plan.batches());
  step.sentences = static_cast<std::int64_t>(sentences.size());
  for (const Sentence& sentence : sentences) {
    step.src_tokens += sentence.src_tokens;
    step.tgt_tokens += sentence.tgt_tokens;
  }
  auto mine = std::move(split_by_cost(sentences, cut.slot.world)[cut.slot.rank]);
  std::vector<ResampledPair> resampled;
  if (resampler != nullptr) resampled = (*resampler)(corpus, cursor, cut.cost, mine);
  for (const auto& part : split_by_tokens(mine, cut.max_tokens_per_micro)) {
    step.micro.push_back(pack(corpus, part, resampled));
  }
  return step;
}

}  // namespace tandem
