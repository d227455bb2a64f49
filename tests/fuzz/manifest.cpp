// MANIFEST.json of a checkpoint, with its own hash put right, state.json and a host's schedule.
#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "cluster/local_schedule.h"
#include "fuzz_target.h"
#include "train/checkpoint_manifest.h"
#include "train/train_state.h"

namespace tandem {
namespace {

std::string with_right_manifest_hash(std::string_view text) try {
  Json manifest = Json::parse(text, "x");
  if (!manifest.is_object()) return std::string(text);
  return manifest.set("hash", hash_text(hash64(manifest.set("hash", "").dump()))).dump();
} catch (const UserError&) {
  return std::string(text);
}

// Goes on from it as training would.
void follow_schedule(const Json& json) {
  LocalSchedule schedule(json);
  check(LocalSchedule(schedule.json()).json().dump() == schedule.json().dump(),
        "a schedule does not read back");
  const auto is_fragment = [](std::size_t one) { return one < kLocalFragments; };
  const std::int64_t start = json.at("start").as_int();
  for (std::int64_t step = start + 1; step < start + 20; ++step) {
    check(std::ranges::all_of(schedule.take_due(step), is_fragment), "no fragment is due");
    check(std::ranges::all_of(schedule.take_leaving(step), is_fragment), "no fragment leaves");
  }
}

// What training computes with, and that it can go on counting.
void check_state(const TrainState& state) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const auto counts = {state.step,
                       state.updates,
                       state.tokens,
                       state.cursor.epoch,
                       state.cursor.next,
                       state.rollbacks,
                       state.evals_without_better,
                       state.evaluated_step + 1,
                       state.trend.seen,
                       state.loss_scale.good_steps,
                       state.loss_scale.skips_in_a_row,
                       state.loss_scale.skipped};
  const auto is_count = [](std::int64_t n) { return n >= 0 && n <= kMost + 1; };
  check(std::ranges::all_of(counts, is_count), "a wild count");
  check(state.updates <= state.step && state.evaluated_step <= state.step, "later than its step");
  check(state.loss_scale.scale >= 1 && state.rate_factor > 0 && state.rate_factor <= 1,
        "a wild factor");
  check(state.seconds >= 0 && state.trend.noise >= 0, "less than nothing");
}

void read_any_manifest(std::string_view input) {
  const auto parts = split_parts(input, 3);
  const auto entries = parse_manifest(with_right_manifest_hash(parts[0]));
  check(entries.size() == 3, "a manifest of other files");
  check(parse_manifest(manifest_text(entries)).size() == 3, "a manifest does not read back");
  const TrainState read = state_from_json(Json::parse(parts[1], "x"), "state.json");
  check_state(read);
  const Json state = state_json(read);
  check(state_json(state_from_json(state, "x")).dump() == state.dump(),
        "a state does not read back");
  follow_schedule(Json::parse(parts[2], "state.json"));
}

std::vector<std::string> manifest_seeds() {
  const std::string manifest = manifest_text({{kModelFile, 100, "00"},
                                              {kOptimizerFile, 1 << 20, "0123456789abcdef"},
                                              {kStateFile, 0, ""}});
  TrainState state;
  state.step = 7;
  state.best = {{5, 3.25}};
  TrainState exchanged = state;
  exchanged.exchange = ExchangeChoice{};
  LocalSchedule schedule({6, 4}, 0);
  for (std::int64_t step = 1; step <= 9; ++step) {
    schedule.take_due(step);
    schedule.take_leaving(step);
  }
  const std::string flying = schedule.json().dump();
  schedule.change({9, 2});
  return {joined_parts(std::vector<std::string>{manifest, state_json(state).dump(), flying}),
          joined_parts(std::vector<std::string>{manifest, state_json(exchanged).dump(),
                                                schedule.json().dump()})};
}

const FuzzTarget kManifestTarget{"manifest", read_any_manifest, manifest_seeds};

}  // namespace
}  // namespace tandem
