#include "train/train_state.h"

#include <limits>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

// More than any run counts to, few enough that what is computed with it stays a number.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;
constexpr double kMostLossScaleSet = 1 << 30;  // optim.loss_scale
constexpr double kLeastRateFactor = 1e-6;
constexpr double kAnyNumber = std::numeric_limits<double>::max();

template <class Number>
Number ranged(const char* key, Number value, Number least, Number most) {
  if (value >= least && value <= most) return value;
  throw UserError(format("{} is {} instead of {} to {}", key, value, least, most));
}

std::int64_t stored_count(const Json& json, const char* key, std::int64_t most = kMostCounted,
                          std::int64_t least = 0) {
  return ranged(key, json.at(key).as_int(), least, most);
}

double stored_number(const Json& json, const char* key, double least = -kAnyNumber,
                     double most = kAnyNumber) {
  return ranged(key, json.at(key).as_double(), least, most);
}

std::optional<double> optional_number(const Json& json, const char* key) {
  if (json.at(key).is_null()) return {};
  return stored_number(json, key);
}

// Whoever reads a state knows it by its place.
template <class Read>
void read_at(std::string_view where, Read read) {
  try {
    read();
  } catch (const UserError& error) {
    throw UserError(
        format("{}: {}; restore it, or go on from another checkpoint", where, error.what()));
  }
}

Json scale_json(const LossScaleState& s) {
  Json json = Json::object().set("scale", s.scale).set("good_steps", s.good_steps);
  json.set("skips_in_a_row", s.skips_in_a_row).set("skipped", s.skipped);
  return json.set("skip_share", s.skip_share);
}

LossScaleState scale_from(const Json& json) {
  LossScaleState scale = {stored_number(json, "scale", kLeastLossScale, kMostLossScaleSet),
                          stored_count(json, "good_steps"), stored_count(json, "skips_in_a_row"),
                          stored_count(json, "skipped"), 0.0};
  // Runs begun before it was kept go on.
  if (json.find("skip_share") != nullptr) {
    scale.skip_share = stored_number(json, "skip_share", 0, 1);
  }
  return scale;
}

Json trend_json(const LossTrend& t) {
  Json json = Json::object().set("seen", t.seen).set("fast", t.fast).set("slow", t.slow);
  return json.set("best", t.best).set("noise", t.noise).set("last", t.last);
}

LossTrend trend_from(const Json& json) {
  // Written by programs that let a loss which was not finite into it: begun anew.
  if (json.at("fast").is_null()) return {};
  return {stored_count(json, "seen"),      stored_number(json, "fast"),
          stored_number(json, "slow"),     stored_number(json, "best"),
          stored_number(json, "noise", 0), stored_number(json, "last")};
}

void take_counts(TrainState& state, const Json& counts) {
  state.updates = stored_count(counts, "updates", state.step);
  state.loss_scale = scale_from(counts.at("loss_scale"));
  state.trend = trend_from(counts.at("trend"));
}

TrainState read_state(const Json& json) {
  TrainState s;
  s.step = stored_count(json, "step");
  take_counts(s, json);
  s.cursor = {stored_count(json.at("cursor"), "epoch"), stored_count(json.at("cursor"), "next")};
  s.tokens = stored_count(json, "tokens");
  s.seconds = stored_number(json, "seconds", 0);
  s.rollbacks = stored_count(json, "rollbacks", kMostRollbacks);
  s.rate_factor = stored_number(json, "rate_factor", kLeastRateFactor, 1);
  for (const Json& model : json.at("best").items()) {
    s.best.push_back({stored_count(model, "step", s.step), stored_number(model, "val_loss")});
  }
  s.best_val_loss = optional_number(json, "best_val_loss");
  s.bleu = optional_number(json, "bleu");
  s.evaluated_step = stored_count(json, "evaluated_step", s.step, -1);
  s.evals_without_better = stored_count(json, "evals_without_better");
  if (const Json* exchange = json.find("exchange")) s.exchange = choice_from_json(*exchange);
  return s;
}

}  // namespace

Json own_counts(const TrainState& state) {
  return Json::object()
      .set("updates", state.updates)
      .set("loss_scale", scale_json(state.loss_scale))
      .set("trend", trend_json(state.trend));
}

void take_own_counts(TrainState& state, const Json& counts, std::string_view where) {
  read_at(where, [&] { take_counts(state, counts); });
}

Json state_json(const TrainState& s) {
  Json best = Json::array();
  for (const BestModel& model : s.best) {
    best.push(Json::object().set("step", model.step).set("val_loss", model.val_loss));
  }
  Json out = Json::object();
  out.set("step", s.step).set("updates", s.updates);
  out.set("cursor", Json::object().set("epoch", s.cursor.epoch).set("next", s.cursor.next));
  out.set("tokens", s.tokens).set("seconds", s.seconds).set("loss_scale", scale_json(s.loss_scale));
  out.set("trend", trend_json(s.trend)).set("rollbacks", s.rollbacks);
  out.set("rate_factor", s.rate_factor);
  out.set("best", std::move(best)).set("best_val_loss", s.best_val_loss);
  out.set("bleu", s.bleu).set("evaluated_step", s.evaluated_step);
  out.set("evals_without_better", s.evals_without_better);
  if (s.exchange) out.set("exchange", choice_json(*s.exchange));
  return out;
}

TrainState state_from_json(const Json& json, std::string_view where) {
  TrainState state;
  read_at(where, [&] { state = read_state(json); });
  return state;
}

}  // namespace tandem
