// exchange_choice: the way in which the hosts of a run exchange, once it is decided: by the
// settings or, with cluster.mode=auto, by what was measured before the first step. The same on all
// workers, kept in checkpoints: a resumed run keeps it. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "cluster/link_codec.h"
#include "cluster/link_watch.h"
#include "cluster/local_schedule.h"
#include "cluster/predict.h"
#include "config/cluster_config.h"

namespace tandem {

struct ExchangeChoice {
  ExchangeMode mode = ExchangeMode::exact;  // never automatic
  LinkFormat format = LinkFormat::bf16;     // of gradients; of weight changes in mode local
  LocalRhythm rhythm;                       // of mode local
  bool operator==(const ExchangeChoice&) const = default;
};

// before: of the checkpoint that is resumed. forecast: of the preflight; none: one host.
ExchangeChoice choose_exchange(const ClusterConfig& config,
                               const std::optional<ExchangeChoice>& before,
                               const std::optional<Prediction>& forecast);

// Without a rhythm.
ExchangeChoice choice_of(Scheme scheme);
Scheme scheme_of(const ExchangeChoice& choice);

// Ways that these settings leave open, the most exact first. exact_only: auto has no choice.
std::vector<Scheme> schemes_of(const ClusterConfig& config, bool exact_only);

// What cluster.mode=auto chooses from. apart: hosts may train apart for some steps.
std::vector<Scheme> schemes_of_auto(ClusterConfig config, bool exact_only, bool apart);

Json choice_json(const ExchangeChoice& choice);
ExchangeChoice choice_from_json(const Json& json);

// For people: events while training goes on.
std::string changed_link_text(const LinkWatch::Change& change);
std::string rhythm_text(const LocalRhythm& rhythm);

}  // namespace tandem
