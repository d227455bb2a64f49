#include "model/decoder_cache.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "model/packed_tokens.h"

namespace tandem {
namespace {

// Lists behind each other, and where each begins.
struct Lists {
  std::vector<std::int32_t> places, offsets{0};
  void end_list() { offsets.push_back(static_cast<std::int32_t>(places.size())); }
};

}  // namespace

DecoderCache::DecoderCache(std::vector<Tensor> cross_kv, std::vector<std::int32_t> source_offsets)
    : cross_kv_(std::move(cross_kv)),
      source_offsets_(std::move(source_offsets)),
      written_(cross_kv_.size()) {
  sentences_.resize(source_offsets_.size() - 1);
  histories_.resize(sentences_.size());
  std::iota(sentences_.begin(), sentences_.end(), 0);
  std::vector<std::int32_t> all = sentences_;
  select(all);
}

void DecoderCache::select(std::span<const std::int32_t> from) {
  std::vector<std::int32_t> sentences;
  std::vector<std::vector<std::int32_t>> histories;
  Lists source;
  for (const std::int32_t old : from) {
    check(old >= 0 && static_cast<std::size_t>(old) < rows(), "no such row to go on from");
    const auto row = static_cast<std::size_t>(old);
    const auto sentence = static_cast<std::size_t>(sentences_[row]);
    sentences.push_back(sentences_[row]);
    histories.push_back(histories_[row]);
    for (std::int32_t at = source_offsets_[sentence]; at < source_offsets_[sentence + 1]; ++at) {
      source.places.push_back(at);
    }
    source.end_list();
  }
  sentences_ = std::move(sentences);
  histories_ = std::move(histories);
  source_places_ = int_tensor(source.places);
  source_row_offsets_ = int_tensor(source.offsets);
}

void DecoderCache::begin_step() {
  step_begin_ = used_;
  Lists written;
  for (auto& history : histories_) {
    history.push_back(static_cast<std::int32_t>(used_++));
    written.places.insert(written.places.end(), history.begin(), history.end());
    written.end_list();
  }
  ++length_;
  written_places_ = int_tensor(written.places);
  written_offsets_ = int_tensor(written.offsets);
}

void DecoderCache::add(std::size_t layer, const Tensor& kv) {
  Tensor& all = written_[layer];
  if (!all.defined() || all.size(0) < used_) {
    Tensor larger = at::empty({std::max(2 * used_, std::int64_t{64}), kv.size(1)}, kv.options());
    if (all.defined()) larger.narrow(0, 0, step_begin_).copy_(all.narrow(0, 0, step_begin_));
    all = std::move(larger);
  }
  all.narrow(0, step_begin_, kv.size(0)).copy_(kv);
}

DecoderCache::Listed DecoderCache::written(std::size_t layer) const {
  return {written_[layer], written_places_, written_offsets_};
}

DecoderCache::Listed DecoderCache::source(std::size_t layer) const {
  return {cross_kv_[layer], source_places_, source_row_offsets_};
}

}  // namespace tandem
