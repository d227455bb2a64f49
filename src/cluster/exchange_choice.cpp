#include "cluster/exchange_choice.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/format.h"
#include "cluster/link_text.h"
#include "config/choice.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 4> kFormatNames = {"fp32", "bf16", "int8", "int4"};

// Settings that name a number hold, whatever was measured or used before.
void take_local_settings(ExchangeChoice& choice, const ClusterConfig& config) {
  if (config.local_code == LocalCode::int8) choice.format = LinkFormat::int8;
  if (config.local_code == LocalCode::int4) choice.format = LinkFormat::int4;
  if (config.local_steps) choice.rhythm = rhythm_of(*config.local_steps, config.local_delay);
  if (config.local_delay) choice.rhythm = rhythm_of(choice.rhythm.steps, config.local_delay);
}

}  // namespace

ExchangeChoice choice_of(Scheme scheme) {
  switch (scheme) {
    case Scheme::int8:
      return {ExchangeMode::int8, LinkFormat::int8, {}};
    case Scheme::int4:
      return {ExchangeMode::int4, LinkFormat::int4, {}};
    case Scheme::local_int8:
      return {ExchangeMode::local, LinkFormat::int8, {}};
    case Scheme::local_int4:
      return {ExchangeMode::local, LinkFormat::int4, {}};
    case Scheme::exact_fp32:
      return {ExchangeMode::exact, LinkFormat::fp32, {}};
    default:
      return {ExchangeMode::exact, LinkFormat::bf16, {}};
  }
}

Scheme scheme_of(const ExchangeChoice& choice) {
  constexpr std::array<Scheme, 4> kGradients = {Scheme::exact_fp32, Scheme::exact_bf16,
                                                Scheme::int8, Scheme::int4};
  if (choice.mode != ExchangeMode::local) {
    return kGradients.at(static_cast<std::size_t>(choice.format));
  }
  return choice.format == LinkFormat::int8 ? Scheme::local_int8 : Scheme::local_int4;
}

ExchangeChoice choose_exchange(const ClusterConfig& config,
                               const std::optional<ExchangeChoice>& before,
                               const std::optional<Prediction>& forecast) {
  const bool as_before =
      before && (config.mode == ExchangeMode::automatic || before->mode == config.mode);
  const Scheme exact = config.wire == Wire::fp32 ? Scheme::exact_fp32 : Scheme::exact_bf16;
  ExchangeChoice choice = choice_of(exact);
  if (as_before && before->mode != ExchangeMode::exact) {
    choice = *before;
  } else if (!as_before && forecast) {
    choice = choice_of(forecast->scheme);
    choice.rhythm = rhythm_of(std::max<std::int64_t>(1, forecast->local_steps));
  }
  if (choice.mode == ExchangeMode::local) take_local_settings(choice, config);
  return choice;
}

std::vector<Scheme> schemes_of(const ClusterConfig& config, bool exact_only) {
  const Scheme exact = config.wire == Wire::fp32 ? Scheme::exact_fp32 : Scheme::exact_bf16;
  std::vector<Scheme> local = {Scheme::local_int8, Scheme::local_int4};
  if (config.local_code == LocalCode::int8) local.pop_back();
  if (config.local_code == LocalCode::int4) local.erase(local.begin());
  switch (config.mode) {
    case ExchangeMode::int8:
      return {Scheme::int8};
    case ExchangeMode::int4:
      return {Scheme::int4};
    case ExchangeMode::local:
      return local;
    case ExchangeMode::exact:
      return {exact};
    case ExchangeMode::automatic:
      break;
  }
  if (exact_only) return {exact};
  std::vector<Scheme> all = {exact, Scheme::int8, Scheme::int4};
  all.insert(all.end(), local.begin(), local.end());
  return all;
}

std::vector<Scheme> schemes_of_auto(ClusterConfig config, bool exact_only, bool apart) {
  config.mode = ExchangeMode::automatic;
  std::vector<Scheme> schemes = schemes_of(config, exact_only);
  if (!apart) std::erase_if(schemes, is_local);
  return schemes;
}

Json choice_json(const ExchangeChoice& choice) {
  Json json = Json::object()
                  .set("mode", name_of(choice.mode))
                  .set("format", kFormatNames.at(static_cast<std::size_t>(choice.format)));
  if (choice.mode == ExchangeMode::local) {
    json.set("local_steps", choice.rhythm.steps).set("local_delay", choice.rhythm.delay);
  }
  return json;
}

ExchangeChoice choice_from_json(const Json& json) {
  const auto place = [&](const auto& names, const char* key) {
    const auto at = std::ranges::find(names, json.at(key).as_string());
    if (at == names.end())
      throw UserError(format("the checkpoint has an unknown exchange {}", key));
    return at - names.begin();
  };
  ExchangeChoice choice;
  choice.mode = static_cast<ExchangeMode>(place(names_of(ExchangeMode{}), "mode"));
  choice.format = static_cast<LinkFormat>(place(kFormatNames, "format"));
  if (choice.mode == ExchangeMode::local) {
    choice.rhythm = stored_rhythm(json.at("local_steps"), json.at("local_delay"));
  }
  return choice;
}

std::string changed_link_text(const LinkWatch::Change& change) {
  if (change.planned) {
    return format("exchanges between the hosts get {}, while the check before the start found {}",
                  rate_text(change.is), rate_text(change.was));
  }
  return format("the link between the hosts carries {} now, it was {} before", rate_text(change.is),
                rate_text(change.was));
}

std::string rhythm_text(const LocalRhythm& rhythm) {
  return format("weights are exchanged every {} steps from here on", rhythm.steps);
}

}  // namespace tandem
