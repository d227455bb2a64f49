#include "model/model_path.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

template <class Number>
std::optional<Number> number_at(std::string_view& text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

struct Rank {
  double val_loss = 0;
  std::int64_t step = 0;
  bool better_than(const Rank& other) const {
    return std::tuple(val_loss, -step) < std::tuple(other.val_loss, -other.step);
  }
};

// Of a name like "val_loss=1.6316-step-40000".
std::optional<Rank> rank_of(std::string_view name) {
  if (!skip(name, "val_loss=")) return std::nullopt;
  const auto loss = number_at<double>(name);
  if (!loss || !std::isfinite(*loss) || !skip(name, "-step-")) return std::nullopt;
  const auto step = number_at<std::int64_t>(name);
  if (!step || !name.empty()) return std::nullopt;
  return Rank{*loss, *step};
}

std::optional<fs::path> best_of(const fs::path& folder) {
  std::optional<fs::path> best;
  Rank best_rank;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto rank = rank_of(entry->path().filename().string());
    if (!rank || !is_model_folder(entry->path())) continue;
    if (best && !rank->better_than(best_rank)) continue;
    best = entry->path();
    best_rank = *rank;
  }
  return best;
}

fs::path latest_of(const fs::path& checkpoints) {
  const fs::path latest = checkpoints / "latest";
  if (!fs::is_regular_file(latest)) return latest;
  std::string name = read_file(latest);
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return checkpoints / fs::path(name).filename();
}

}  // namespace

bool is_model_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kModelWeights, ignored) &&
         fs::is_regular_file(folder / kModelConfig, ignored) &&
         fs::is_regular_file(folder / kModelVocab, ignored);
}

fs::path find_model_folder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    throw UserError(
        format("{} is no folder; name a model folder or the directory of a run", path.string()));
  }
  if (is_model_folder(path)) return path;
  if (is_model_folder(path / "model")) return path / "model";
  if (const auto best = best_of(path / "best")) return *best;
  if (const fs::path latest = latest_of(path / "checkpoints"); is_model_folder(latest)) {
    return latest;
  }
  throw UserError(
      format("{} holds no model ({}, {}, {}), neither itself nor in model/, best/ or "
             "checkpoints/latest; name a model folder or a run that has saved one",
             path.string(), kModelWeights, kModelConfig, kModelVocab));
}

}  // namespace tandem
