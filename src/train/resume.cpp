#include "train/resume.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/format.h"
#include "train/checkpoint_folder.h"

namespace tandem {
namespace {

ResumePoint named(const RunFolder& run, const fs::path& folder) {
  const std::string problem = checkpoint_problem(folder);
  if (!problem.empty()) {
    throw UserError(format("--resume {}: {}; name a folder step-N of a run's checkpoints",
                           folder.string(), problem));
  }
  const std::int64_t step = read_checkpoint_state(folder).at("step").as_int();
  const auto own = run.list_checkpoints();
  if (!own.empty() && own.rbegin()->first > step) {
    throw UserError(
        format("{} holds a newer checkpoint than --resume {}; leave --resume out to go on from "
               "it, remove it, or set another run=",
               own.rbegin()->second.string(), folder.string()));
  }
  return {folder, {}};
}

bool tells_of_checkpoints(const fs::path& journal) {
  std::error_code unknown;
  return fs::exists(journal, unknown) &&
         read_file(journal, kAnyFileBytes).find("\"type\":\"checkpoint\"") != std::string::npos;
}

void compare(const Json* was, const Json* is, const std::string& key,
             std::vector<SettingChange>& changes) {
  const bool nested = (was != nullptr && was->is_object()) || (is != nullptr && is->is_object());
  if (!nested) {
    const auto text = [](const Json* json) { return json ? json->dump() : std::string("null"); };
    if (text(was) != text(is)) changes.push_back({key, text(was), text(is)});
    return;
  }
  std::vector<std::string> names;
  for (const Json* side : {was, is}) {
    if (side == nullptr || !side->is_object()) continue;
    for (const auto& [name, value] : side->members()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  const auto member = [](const Json* side, const std::string& name) {
    return side != nullptr && side->is_object() ? side->find(name) : nullptr;
  };
  for (const std::string& name : names) {
    compare(member(was, name), member(is, name), key.empty() ? name : key + "." + name, changes);
  }
}

}  // namespace

ResumePoint newest_whole_checkpoint(const RunFolder& run, std::int64_t last) {
  ResumePoint point;
  const auto checkpoints = run.list_checkpoints();
  for (auto at = checkpoints.rbegin(); at != checkpoints.rend(); ++at) {
    if (at->first > last) continue;
    const std::string problem = checkpoint_problem(at->second);
    if (problem.empty()) {
      point.checkpoint = at->second;
      return point;
    }
    point.damaged.push_back(format("{} cannot be used: {}", at->second.string(), problem));
  }
  return point;
}

void refuse_if_lost(const RunFolder& run, const ResumePoint& point) {
  if (point.checkpoint) return;
  if (point.damaged.empty()) {
    if (!tells_of_checkpoints(run.journal())) return;
    throw UserError(
        format("{} was saved before, as its journal tells, but its checkpoints are gone; restore "
               "one, or start anew with another run= or with --resume never",
               run.root().string()));
  }
  throw UserError(
      format("no checkpoint of {} is whole ({}); restore one, or set another run= to "
             "start anew",
             run.root().string(), join(point.damaged, "; ")));
}

ResumePoint find_resume_point(const RunFolder& run, const std::string& choice) {
  if (choice == "auto") {
    ResumePoint point = newest_whole_checkpoint(run);
    refuse_if_lost(run, point);
    return point;
  }
  if (choice != "never") return named(run, choice);
  if (!run.list_checkpoints().empty()) {
    throw UserError(
        format("{} holds checkpoints, which --resume never would mix up with new ones; leave "
               "--resume out to go on from them, set another run=, or remove them",
               run.root().string()));
  }
  return {};
}

std::vector<SettingChange> changed_settings(const Json& was, const Json& is) {
  std::vector<SettingChange> changes;
  compare(&was, &is, "", changes);
  return changes;
}

bool may_change(std::string_view key) {
  // These change memory, rounding or places only; a rate may be changed on purpose.
  // What data.corpora says is in dataset.train, by hash.
  constexpr std::array<std::string_view, 5> kAlways = {
      "model.preset", "batch.max_tokens_per_micro", "data.path", "data.corpora", "data.distribute"};
  constexpr std::array<std::string_view, 9> kFixed = {"workers",   "seed",     "precision",
                                                      "data.",     "model.",   "batch.",
                                                      "optim.ema", "dataset.", "optim.beta"};
  if (std::ranges::find(kAlways, key) != kAlways.end()) return true;
  return std::ranges::none_of(kFixed, [&](auto fixed) { return key.starts_with(fixed); });
}

std::vector<SettingChange> check_settings(const Json& was, const Json& is,
                                          const std::string& checkpoint) {
  std::vector<SettingChange> allowed;
  std::vector<std::string> refused;
  for (SettingChange& change : changed_settings(was, is)) {
    if (may_change(change.key)) {
      allowed.push_back(std::move(change));
    } else {
      refused.push_back(format("{} was {} and is {}", change.key, change.was, change.is));
    }
  }
  if (!refused.empty()) {
    throw UserError(
        format("{} cannot be resumed: {}; set them back, or set another run= to start "
               "anew",
               checkpoint, join(refused, ", ")));
  }
  return allowed;
}

}  // namespace tandem
