// attention_context: how an operation of autograd remembers the setting of attention.
#pragma once

#include "model/ops/attention.h"
#include "model/ops/cpu_mask.h"

namespace tandem::cpu {

inline void save(torch::autograd::AutogradContext* context, const AttentionSpec& spec) {
  save(context, spec.drop);
  context->saved_data["heads"] = spec.heads;
  context->saved_data["causal"] = spec.causal;
  context->saved_data["query_offsets"] = spec.query_offsets;
  context->saved_data["key_offsets"] = spec.key_offsets;
}

inline AttentionSpec load_attention(torch::autograd::AutogradContext* context) {
  return {context->saved_data["heads"].toInt(), context->saved_data["causal"].toBool(),
          context->saved_data["query_offsets"].toTensor(),
          context->saved_data["key_offsets"].toTensor(), load_dropout(context)};
}

}  // namespace tandem::cpu
