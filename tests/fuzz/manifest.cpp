// MANIFEST.json of a checkpoint, with its own hash put right, and state.json.
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
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

void read_any_manifest(std::string_view input) {
  const auto parts = split_parts(input, 2);
  const auto entries = parse_manifest(with_right_manifest_hash(parts[0]));
  check(entries.size() == 3, "a manifest of other files");
  check(parse_manifest(manifest_text(entries)).size() == 3, "a manifest does not read back");
  const Json state = state_json(state_from_json(Json::parse(parts[1], "state.json")));
  check(state_json(state_from_json(state)).dump() == state.dump(), "a state does not read back");
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
  return {joined_parts(std::vector<std::string>{manifest, state_json(state).dump()}),
          joined_parts(std::vector<std::string>{manifest, state_json(exchanged).dump()})};
}

const FuzzTarget kManifestTarget{"manifest", read_any_manifest, manifest_seeds};

}  // namespace
}  // namespace tandem
