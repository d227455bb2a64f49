// folder_offer: what one worker tells another before it sends a folder (a dataset, a checkpoint),
// and the words of that conversation:
//
//   sender    offer                          what it is, and name, size and hash of each file
//   receiver  go | have | refused WHY
//   sender    data (number of the file, bytes) ..., end
//   receiver  kept | refused WHY             after every byte was checked and the folder is in
//   place
//
// Reading treats the bytes as hostile. Names are plain file names: nothing leads out of the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace tandem {

enum class FolderWord : std::uint8_t {
  offer = 1,
  data = 2,
  end = 3,
  go = 4,
  have = 5,
  kept = 6,
  refused = 7
};

enum class FolderKind : std::uint8_t { dataset = 1, checkpoint = 2 };

struct OfferedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  bool operator==(const OfferedFile&) const = default;
};

struct FolderOffer {
  FolderKind kind = FolderKind::dataset;
  std::int64_t step = 0;  // of a checkpoint; the number of a dataset among several
  std::vector<OfferedFile> files;
  std::uint64_t bytes() const;  // of all files
  bool operator==(const FolderOffer&) const = default;
};

// The files of a folder, by name; reads all of them. What has no plain name is left out, as are
// folders: the receiver's check tells whether that matters.
FolderOffer offer_folder(FolderKind kind, std::int64_t step, const fs::path& folder);

std::string to_message(const FolderOffer& offer);
std::optional<FolderOffer> offer_from(std::string_view message);  // nothing: nonsense

bool is_sendable_name(std::string_view name);

}  // namespace tandem
