// op_table: the operations of the model that exist twice, fast and plain, as one choice
// (setting `ops`). Both compute the same function.
#pragma once

#include "config/model_config.h"
#include "model/ops/activation.h"
#include "model/ops/attention_layer.h"
#include "model/ops/linear.h"
#include "model/ops/projection_loss.h"
#include "model/ops/residual_norm.h"

namespace tandem {

struct OpTable {
  decltype(&tandem::linear) linear;
  decltype(&tandem::self_attention_layer) self_attention;
  decltype(&tandem::cross_attention_layer) cross_attention;
  decltype(&tandem::residual_norm) residual_norm;
  decltype(&tandem::bias_activation_dropout) bias_activation_dropout;
  decltype(&tandem::projection_loss) projection_loss;
};

inline OpTable op_table(Ops ops) {
  if (ops == Ops::plain) {
    return {linear_plain,        self_attention_layer_plain,    cross_attention_layer_plain,
            residual_norm_plain, bias_activation_dropout_plain, projection_loss_plain};
  }
  return {linear,        self_attention_layer,    cross_attention_layer,
          residual_norm, bias_activation_dropout, projection_loss};
}

}  // namespace tandem
