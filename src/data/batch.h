// batch: sentences as the model takes them: packed one behind the other, no padding, no Torch.
// 32-bit numbers throughout: embeddings and attention over offsets take them, at half the memory of
// 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/batch_cut.h"
#include "data/batch_plan.h"
#include "data/data_cursor.h"

namespace tandem {

class Mixture;
class Resampler;
struct ResampledPair;

// B sentences, Ns source and Nt target tokens.
// Source of sentence i: src_ids[src_offsets[i]] .. src_ids[src_offsets[i+1] - 1], the last is eos.
// Target of sentence i: tgt_in (bos, ids) predicts tgt_out (ids, eos), both between tgt_offsets.
struct Batch {
  std::vector<std::int32_t> src_ids;          // [Ns]
  std::vector<std::int32_t> src_offsets;      // [B+1]
  std::vector<std::int32_t> tgt_in, tgt_out;  // [Nt]
  std::vector<std::int32_t> tgt_offsets;      // [B+1]
  std::vector<std::int32_t> places;           // [B] in the global batch, ascending
  std::size_t sentences() const { return places.size(); }
};

// One worker's share of one update.
struct StepBatch {
  DataCursor cursor;  // of this batch
  DataCursor after;   // where to go on when the step is done: what a checkpoint keeps
  std::int64_t batches_in_epoch = 0;
  // Of the global batch, over all workers, in the subwords of the dataset; known from the plan, so
  // nobody has to ask the others.
  std::int64_t sentences = 0, src_tokens = 0, tgt_tokens = 0;
  // Without elements when there are fewer sentences than workers: such a worker adds nothing to the
  // sum of gradients but still takes part in the exchange.
  std::vector<Batch> micro;
};

struct RankSlot {
  std::size_t rank = 0, world = 1;
};

struct CutSetting {
  RankSlot slot;
  std::int64_t max_tokens_per_micro = 8192;  // on either side, with marks
  CostModel cost;                            // the same on all workers
};

// resampled: what the sentences' pairs are numbers of; empty: pairs of the corpus.
Batch pack(const Mixture& corpus, std::span<const Sentence> sentences,
           std::span<const ResampledPair> resampled = {});

// cursor.epoch is the plan's epoch; cursor.next one of its batches. resampler: for subword
// regularisation, else none.
StepBatch make_step(const Mixture& corpus, const BatchPlan& plan, DataCursor cursor,
                    const CutSetting& cut, const Resampler* resampler = nullptr);

}  // namespace tandem
