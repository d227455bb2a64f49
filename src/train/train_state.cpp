#include "train/train_state.h"

namespace tandem {
namespace {

std::optional<double> optional_number(const Json& json) {
  if (json.is_null()) return {};
  return json.as_double();
}

Json scale_json(const LossScaleState& s) {
  Json json = Json::object().set("scale", s.scale).set("good_steps", s.good_steps);
  json.set("skips_in_a_row", s.skips_in_a_row).set("skipped", s.skipped);
  return json.set("skip_share", s.skip_share);
}

LossScaleState scale_from(const Json& json) {
  LossScaleState scale = {json.at("scale").as_double(), json.at("good_steps").as_int(),
                          json.at("skips_in_a_row").as_int(), json.at("skipped").as_int(), 0.0};
  // Runs begun before it was kept go on.
  if (const Json* share = json.find("skip_share")) scale.skip_share = share->as_double();
  return scale;
}

Json trend_json(const LossTrend& t) {
  Json json = Json::object().set("seen", t.seen).set("fast", t.fast).set("slow", t.slow);
  return json.set("best", t.best).set("noise", t.noise).set("last", t.last);
}

LossTrend trend_from(const Json& json) {
  // Written by programs that let a loss which was not finite into it: begun anew.
  if (json.at("fast").is_null()) return {};
  return {json.at("seen").as_int(),    json.at("fast").as_double(),  json.at("slow").as_double(),
          json.at("best").as_double(), json.at("noise").as_double(), json.at("last").as_double()};
}

}  // namespace

Json own_counts(const TrainState& state) {
  return Json::object()
      .set("updates", state.updates)
      .set("loss_scale", scale_json(state.loss_scale))
      .set("trend", trend_json(state.trend));
}

void take_own_counts(TrainState& state, const Json& counts) {
  state.updates = counts.at("updates").as_int();
  state.loss_scale = scale_from(counts.at("loss_scale"));
  state.trend = trend_from(counts.at("trend"));
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

TrainState state_from_json(const Json& json) {
  TrainState s;
  s.step = json.at("step").as_int();
  s.updates = json.at("updates").as_int();
  s.cursor = {json.at("cursor").at("epoch").as_int(), json.at("cursor").at("next").as_int()};
  s.tokens = json.at("tokens").as_int();
  s.seconds = json.at("seconds").as_double();
  s.loss_scale = scale_from(json.at("loss_scale"));
  s.trend = trend_from(json.at("trend"));
  s.rollbacks = json.at("rollbacks").as_int();
  s.rate_factor = json.at("rate_factor").as_double();
  for (const Json& model : json.at("best").items()) {
    s.best.push_back({model.at("step").as_int(), model.at("val_loss").as_double()});
  }
  s.best_val_loss = optional_number(json.at("best_val_loss"));
  s.bleu = optional_number(json.at("bleu"));
  s.evaluated_step = json.at("evaluated_step").as_int();
  s.evals_without_better = json.at("evals_without_better").as_int();
  if (const Json* exchange = json.find("exchange")) s.exchange = choice_from_json(*exchange);
  return s;
}

}  // namespace tandem
