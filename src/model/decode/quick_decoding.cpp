#include "model/decode/quick_decoding.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {
namespace {

std::size_t area(std::size_t rows, std::int64_t width) {
  return rows * static_cast<std::size_t>(width);
}

void grow(std::vector<float>& memory, std::size_t size) {
  if (memory.size() < size) memory.resize(size);
}

}  // namespace

QuickDecoding::QuickDecoding(const StepWeights& weights, const ModelConfig& config,
                             const WordChoice& choice)
    : weights_(weights),
      config_(config),
      shape_{config.heads, config.d_model / config.heads},
      written_(weights.layers.size()),
      stream_(config, weights.norms),
      projection_(weights.output, choice) {}

std::int32_t QuickDecoding::place_for_source() {
  const auto free = std::ranges::find(sources_, false, &Source::needed);
  const auto place = free - sources_.begin();
  if (free == sources_.end()) sources_.emplace_back();
  return static_cast<std::int32_t>(place);
}

void QuickDecoding::add(const float* states, std::span<const std::int32_t> offsets) {
  const std::size_t count = offsets.size() - 1, first = rows();
  for (std::size_t i = 0; i < count; ++i) {
    sentences_.push_back(place_for_source());
    Source& source = sources_[static_cast<std::size_t>(sentences_.back())];
    source.needed = true;
    source.keys = offsets[i + 1] - offsets[i];
    source.size = static_cast<std::size_t>(cpu::source_floats(shape_, source.keys));
    source.panels.assign(source.size * weights_.layers.size(), 0);
  }
  places_.add_rows(count);
  const std::int64_t row = 2 * config_.d_model;
  grow(source_kv_, area(static_cast<std::size_t>(offsets.back()), row));
  for (std::size_t layer = 0; layer < weights_.layers.size(); ++layer) {
    const StepLinear& cross_kv = weights_.layers[layer].cross_kv;
    cross_kv.matrix.prepare(states, offsets.back(), prepared_);
    cross_kv.matrix.times(prepared_, offsets.back(), cross_kv.bias, source_kv_.data());
    for (std::size_t i = 0; i < count; ++i) {
      Source& source = sources_[static_cast<std::size_t>(sentences_[first + i])];
      cpu::pack_source(shape_, source_kv_.data() + offsets[i] * row, source.keys,
                       source.panels.data() + layer * source.size);
    }
  }
}

void QuickDecoding::select(std::span<const std::int32_t> from) {
  places_.select(from);
  chosen_.clear();
  for (Source& source : sources_) source.needed = false;
  for (const std::int32_t row : from) {
    chosen_.push_back(sentences_[static_cast<std::size_t>(row)]);
    sources_[static_cast<std::size_t>(chosen_.back())].needed = true;
  }
  sentences_.swap(chosen_);
}

void QuickDecoding::self_attention(std::size_t layer) {
  const StepLayer& own = weights_.layers[layer];
  const std::int64_t width = config_.d_model;
  stream_.times(own.qkv, stream_.input(), wide_);
  float* written = written_[layer].data();
  for (std::size_t row = 0; row < rows(); ++row) {
    std::copy_n(wide_.data() + area(row, 3 * width) + width, 2 * width,
                written + places_.of(row).back() * 2 * width);
  }
  for (std::size_t row = 0; row < rows(); ++row) {
    cpu::attend_listed(shape_, wide_.data() + area(row, 3 * width), written, places_.of(row),
                       seen_.data() + area(row, width), scratch_);
  }
  stream_.add(own.attention_out, seen_);
}

void QuickDecoding::cross_attention(std::size_t layer) {
  const StepLayer& own = weights_.layers[layer];
  const std::int64_t width = config_.d_model;
  stream_.times(own.cross_q, stream_.input(), wide_);
  for (std::size_t row = 0; row < rows();) {
    std::size_t end = row + 1;
    while (end < rows() && sentences_[end] == sentences_[row]) ++end;
    const Source& source = sources_[static_cast<std::size_t>(sentences_[row])];
    cpu::attend_source(shape_, wide_.data() + area(row, width),
                       static_cast<std::int64_t>(end - row),
                       source.panels.data() + layer * source.size, source.keys,
                       seen_.data() + area(row, width), scratch_);
    row = end;
  }
  stream_.add(own.cross_out, seen_);
}

void QuickDecoding::step(std::span<const std::int32_t> last, WordTable& words) {
  check(last.size() == rows(), "one word a row");
  const std::int64_t width = config_.d_model;
  stream_.resize(rows());
  grow(seen_, area(rows(), width));
  for (std::size_t row = 0; row < rows(); ++row) {
    const auto length = static_cast<std::int64_t>(places_.length(row));
    check(length < config_.max_positions, "a translation longer than model.max_positions");
    stream_.put(row, weights_.embedding + last[row] * width, weights_.positions + length * width);
  }
  stream_.begin();
  places_.add_word();
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const std::size_t places = area(places_.capacity(), 2 * width);
    if (written_[i].size() < places) written_[i].resize(2 * places);
    self_attention(i);
    cross_attention(i);
    stream_.feed_forward(weights_.layers[i].ffn_in, weights_.layers[i].ffn_out);
  }
  projection_.run(stream_.input().data(), rows(), words);
}

}  // namespace tandem
