// cpu_mask: dropout inside the operations for the CPU: the mask of each row, and how an operation
// of autograd remembers it (its rate, site and keys, never the mask itself).
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "model/ops/cpu_rows.h"
#include "model/ops/dropout.h"
#include "model/ops/dropout_hash.h"

namespace tandem::cpu {

// At least 32k elements a task: below that, waking a thread costs more than it saves.
inline std::int64_t rows_a_task(std::int64_t width) {
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(width, 1));
}

class Masks {
 public:
  explicit Masks(const Dropout& drop)
      : keys_(drop.active() ? drop.keys.const_data_ptr<std::int64_t>() : nullptr),
        site_(drop.site),
        threshold_(drop_threshold(drop.rate)),
        scale_(static_cast<float>(1.0 / (1.0 - drop.rate))) {}
  bool active() const { return keys_ != nullptr; }
  float scale() const { return scale_; }
  // part: a further cut of the row, such as the head of attention.
  rows::Mask row(std::int64_t i, std::uint64_t part = 0) const {
    if (keys_ == nullptr) return {};  // a threshold of 0 keeps everything
    const auto token = static_cast<std::uint64_t>(keys_[i]);
    return {row_key(token, site_ + part), threshold_, scale_};
  }

 private:
  const std::int64_t* keys_;
  std::uint64_t site_;
  std::uint32_t threshold_;
  float scale_;
};

inline void save(torch::autograd::AutogradContext* context, const Dropout& drop) {
  context->saved_data["rate"] = drop.rate;
  context->saved_data["site"] = static_cast<std::int64_t>(drop.site);
  context->saved_data["keys"] = drop.keys;
}

inline Dropout load_dropout(torch::autograd::AutogradContext* context) {
  return {context->saved_data["rate"].toDouble(),
          static_cast<std::uint64_t>(context->saved_data["site"].toInt()),
          context->saved_data["keys"].toTensor()};
}

}  // namespace tandem::cpu
