#include "model/decode/quick_decoding.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/ops/norm_rows.h"
#include "model/tensor.h"

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
      projection_(weights.output, choice) {}

std::int32_t QuickDecoding::place_for_source() {
  const auto free = std::ranges::find(sources_, false, &Source::needed);
  const auto place = free - sources_.begin();
  if (free == sources_.end()) sources_.emplace_back();
  return static_cast<std::int32_t>(place);
}

bool QuickDecoding::add(const float* states, std::span<const std::int32_t> offsets) {
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
  return true;
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

void QuickDecoding::embed(std::span<const std::int32_t> last) {
  const auto width = static_cast<std::size_t>(config_.d_model);
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(width)));
  for (std::size_t row = 0; row < last.size(); ++row) {
    const float* position = weights_.positions + places_.length(row) * width;
    const float* word = weights_.embedding + static_cast<std::size_t>(last[row]) * width;
    float* to = stream_.data() + row * width;
    for (std::size_t c = 0; c < width; ++c) to[c] = position[c] + scale * word[c];
  }
  next_norm_ = 0;
  if (config_.norm == NormPlace::post) return;
  const StepNorm& norm = weights_.norms[next_norm_++];
  for (std::size_t at = 0; at < last.size() * width; at += width) {
    rows::norm(stream_.data() + at, norm.weight, norm.shift, input_.data() + at, config_.d_model);
  }
}

void QuickDecoding::times(const StepLinear& linear, const Rows& x, bool with_bias, Rows& y) {
  const auto count = static_cast<std::int64_t>(rows());
  linear.matrix.prepare(x.data(), count, prepared_);
  linear.matrix.times(prepared_, count, with_bias ? linear.bias : nullptr, y.data());
}

void QuickDecoding::add_to_stream(const float* bias) {
  const StepNorm& norm = weights_.norms[next_norm_++];
  const bool pre = config_.norm == NormPlace::pre;
  Rows& normed = pre ? input_ : spare_;
  const auto width = static_cast<std::size_t>(config_.d_model);
  for (std::size_t at = 0; at < rows() * width; at += width) {
    rows::add_norm(product_.data() + at, stream_.data() + at, bias, {}, norm.weight, norm.shift,
                   normed.data() + at, config_.d_model);
  }
  stream_.swap(pre ? product_ : spare_);
}

void QuickDecoding::self_attention(std::size_t layer) {
  const StepLayer& own = weights_.layers[layer];
  const std::int64_t width = config_.d_model;
  times(own.qkv, config_.norm == NormPlace::pre ? input_ : stream_, true, wide_);
  float* written = written_[layer].data();
  for (std::size_t row = 0; row < rows(); ++row) {
    std::copy_n(wide_.data() + area(row, 3 * width) + width, 2 * width,
                written + places_.of(row).back() * 2 * width);
  }
  for (std::size_t row = 0; row < rows(); ++row) {
    cpu::attend_listed(shape_, wide_.data() + area(row, 3 * width), written, places_.of(row),
                       seen_.data() + area(row, width), scratch_);
  }
  times(own.attention_out, seen_, false, product_);
  add_to_stream(own.attention_out.bias);
}

void QuickDecoding::cross_attention(std::size_t layer) {
  const StepLayer& own = weights_.layers[layer];
  const std::int64_t width = config_.d_model;
  times(own.cross_q, config_.norm == NormPlace::pre ? input_ : stream_, true, wide_);
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
  times(own.cross_out, seen_, false, product_);
  add_to_stream(own.cross_out.bias);
}

void QuickDecoding::feed_forward(std::size_t layer) {
  const StepLayer& own = weights_.layers[layer];
  times(own.ffn_in, config_.norm == NormPlace::pre ? input_ : stream_, true, wide_);
  const auto count = static_cast<std::int64_t>(area(rows(), config_.ffn));
  if (config_.activation == Activation::relu) {
    rows::relu(wide_.data(), count);
  } else {
    Tensor inner = at::from_blob(wide_.data(), {count}, at::kFloat);
    at::gelu_(inner);
  }
  times(own.ffn_out, wide_, false, product_);
  add_to_stream(own.ffn_out.bias);
}

void QuickDecoding::step(std::span<const std::int32_t> last, WordTable& words) {
  check(last.size() == rows(), "one word a row");
  const std::int64_t width = config_.d_model;
  for (std::size_t row = 0; row < rows(); ++row) {
    check(static_cast<std::int64_t>(places_.length(row)) < config_.max_positions,
          "a translation longer than model.max_positions");
  }
  for (Rows* memory : {&stream_, &input_, &product_, &spare_, &seen_}) {
    grow(*memory, area(rows(), width));
  }
  grow(wide_, area(rows(), std::max(3 * width, config_.ffn)));
  embed(last);
  places_.add_word();
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const std::size_t places = area(places_.capacity(), 2 * width);
    if (written_[i].size() < places) written_[i].resize(2 * places);
    self_attention(i);
    cross_attention(i);
    feed_forward(i);
  }
  projection_.run((config_.norm == NormPlace::pre ? input_ : stream_).data(), rows(), words);
}

}  // namespace tandem
