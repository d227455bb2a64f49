#include "train/train_state.h"

namespace tandem {
namespace {

Json optional_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> optional_number(const Json& json) {
  if (json.is_null()) return {};
  return json.as_double();
}

}  // namespace

Json state_json(const TrainState& s) {
  Json best = Json::array();
  for (const BestModel& model : s.best) {
    best.push(Json::object().set("step", model.step).set("val_loss", model.val_loss));
  }
  Json scale = Json::object();
  scale.set("scale", s.loss_scale.scale).set("good_steps", s.loss_scale.good_steps);
  scale.set("skips_in_a_row", s.loss_scale.skips_in_a_row).set("skipped", s.loss_scale.skipped);
  scale.set("skip_share", s.loss_scale.skip_share);
  Json trend = Json::object();
  trend.set("seen", s.trend.seen).set("fast", s.trend.fast).set("slow", s.trend.slow);
  trend.set("best", s.trend.best).set("noise", s.trend.noise).set("last", s.trend.last);
  Json out = Json::object();
  out.set("step", s.step).set("updates", s.updates);
  out.set("cursor", Json::object().set("epoch", s.cursor.epoch).set("next", s.cursor.next));
  out.set("tokens", s.tokens).set("seconds", s.seconds).set("loss_scale", std::move(scale));
  out.set("trend", std::move(trend)).set("rollbacks", s.rollbacks);
  out.set("rate_factor", s.rate_factor);
  out.set("best", std::move(best)).set("best_val_loss", optional_number(s.best_val_loss));
  out.set("bleu", optional_number(s.bleu)).set("evaluated_step", s.evaluated_step);
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
  const Json& scale = json.at("loss_scale");
  s.loss_scale = {scale.at("scale").as_double(), scale.at("good_steps").as_int(),
                  scale.at("skips_in_a_row").as_int(), scale.at("skipped").as_int(), 0.0};
  // Runs begun before it was kept go on.
  if (const Json* share = scale.find("skip_share")) s.loss_scale.skip_share = share->as_double();
  const Json& trend = json.at("trend");
  s.trend = {trend.at("seen").as_int(),     trend.at("fast").as_double(),
             trend.at("slow").as_double(),  trend.at("best").as_double(),
             trend.at("noise").as_double(), trend.at("last").as_double()};
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
