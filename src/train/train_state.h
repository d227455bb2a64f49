// train_state: everything a run goes on from that is not a tensor. Nothing random is in it: order
// and dropout are functions of (seed, step, place).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/exchange_choice.h"
#include "data/data_cursor.h"
#include "train/divergence.h"
#include "train/loss_scaler.h"

namespace tandem {

struct BestModel {
  std::int64_t step = 0;
  double val_loss = 0;
  bool operator==(const BestModel&) const = default;
};

struct TrainState {
  std::int64_t step = 0;     // batches consumed, skipped updates included
  std::int64_t updates = 0;  // of the weights: what Adam's bias correction counts
  DataCursor cursor;         // of the next batch
  std::int64_t tokens = 0;   // target tokens seen
  double seconds = 0;        // of training
  LossScaleState loss_scale;
  LossTrend trend;
  std::int64_t rollbacks = 0;   // to a good checkpoint, after training had diverged
  double rate_factor = 1;       // on the learning rate; lower after each of them
  std::vector<BestModel> best;  // kept models, best first
  std::optional<double> best_val_loss, bleu;
  std::int64_t evaluated_step = -1;  // of the newest evaluation
  std::int64_t evals_without_better = 0;
  std::optional<ExchangeChoice> exchange;  // between hosts; none: there was one
  bool operator==(const TrainState&) const = default;
};

// Hosts of mode local skip steps for themselves: each has its own updates, loss scale and trend.
// The rest is the same on all of them.
Json own_counts(const TrainState& state);
void take_own_counts(TrainState& state, const Json& counts, std::string_view where);

Json state_json(const TrainState& state);
// where: what the state is of, for errors. What is missing, of another kind or out of its range is
// a UserError.
TrainState state_from_json(const Json& json, std::string_view where);

}  // namespace tandem
