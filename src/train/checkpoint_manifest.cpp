#include "train/checkpoint_manifest.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file_hash.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"

namespace tandem {
namespace {

constexpr std::int64_t kManifestVersion = 1;
constexpr std::array kCheckpointFiles{kModelFile, kOptimizerFile, kStateFile};

std::string manifest_hash(Json manifest) {
  return hash_text(hash64(manifest.set("hash", "").dump()));
}

// False where nobody can tell: the error of reading says more.
bool is_missing(const fs::path& path) {
  std::error_code unknown;
  return !fs::exists(path, unknown) && !unknown;
}

// Empty: the file is the one that the manifest tells of.
std::string file_problem(const fs::path& folder, const ManifestEntry& entry) {
  if (is_missing(folder / entry.name)) return format("{} is missing", entry.name);
  const FileHash found = hash_file(folder / entry.name);
  if (std::cmp_not_equal(found.bytes, entry.bytes)) {
    return format("{} has {} bytes instead of {}", entry.name, found.bytes, entry.bytes);
  }
  if (hash_text(found.hash) != entry.hash) {
    return format("{} is damaged (its hash differs from the manifest's)", entry.name);
  }
  return {};
}

}  // namespace

std::vector<ManifestEntry> manifest_entries(const fs::path& folder) {
  std::vector<ManifestEntry> entries;
  for (const char* name : kCheckpointFiles) {
    const FileHash found = hash_file(folder / name);
    entries.push_back({name, static_cast<std::int64_t>(found.bytes), hash_text(found.hash)});
  }
  return entries;
}

std::string manifest_text(const std::vector<ManifestEntry>& entries) {
  Json files = Json::object();
  for (const ManifestEntry& entry : entries) {
    files.set(entry.name, Json::object().set("bytes", entry.bytes).set("hash", entry.hash));
  }
  Json manifest = Json::object();
  manifest.set("version", kManifestVersion).set("files", std::move(files)).set("hash", "");
  manifest.set("hash", manifest_hash(manifest));
  return manifest.dump(2) + "\n";
}

std::vector<ManifestEntry> parse_manifest(std::string_view text) {
  const Json manifest = Json::parse(text, kManifestFile);
  const std::int64_t version = manifest.at("version").as_int();
  if (version != kManifestVersion) {
    throw UserError(format("{} has version {}, this program reads {}", kManifestFile, version,
                           kManifestVersion));
  }
  if (manifest_hash(manifest) != manifest.at("hash").as_string()) {
    throw UserError(format("{} is damaged", kManifestFile));
  }
  std::vector<ManifestEntry> entries;
  for (const auto& [name, facts] : manifest.at("files").members()) {
    entries.push_back({name, facts.at("bytes").as_int(), facts.at("hash").as_string()});
  }
  if (!std::ranges::is_permutation(entries, kCheckpointFiles, {}, &ManifestEntry::name)) {
    throw UserError(format("{} does not list the files of a checkpoint", kManifestFile));
  }
  return entries;
}

std::string checkpoint_problem(const fs::path& folder) try {
  const fs::path path = folder / kManifestFile;
  if (is_missing(path)) return format("{} is missing", kManifestFile);
  for (const ManifestEntry& entry : parse_manifest(read_regular_file(path))) {
    if (std::string problem = file_problem(folder, entry); !problem.empty()) return problem;
  }
  return {};
} catch (const Error& error) {
  return error.what();
}

}  // namespace tandem
