// checkpoint_manifest: MANIFEST.json, written last into a checkpoint: sizes and hashes of its other
// files and a hash of itself. A folder whose manifest does not fit is no checkpoint. No Torch.
// Format: docs/decisions/0004-checkpoints.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace tandem {

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kStateFile = "state.json";
inline constexpr const char* kManifestFile = "MANIFEST.json";

struct ManifestEntry {
  std::string name;
  std::int64_t bytes = 0;
  std::string hash;
};

// Of the three files that lie in the folder.
std::vector<ManifestEntry> manifest_entries(const fs::path& folder);
std::string manifest_text(const std::vector<ManifestEntry>& entries);
// What is no manifest of exactly these three files is a UserError.
std::vector<ManifestEntry> parse_manifest(std::string_view text);

// Reads every byte. Empty: it is whole. Else what is wrong, without the folder's name.
std::string checkpoint_problem(const fs::path& folder);

}  // namespace tandem
