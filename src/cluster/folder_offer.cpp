#include "cluster/folder_offer.h"

#include <algorithm>

#include "base/file_hash.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

constexpr std::size_t kMostFiles = 1000;
constexpr std::size_t kMostNameBytes = 200;

}  // namespace

std::uint64_t FolderOffer::bytes() const {
  std::uint64_t sum = 0;
  for (const OfferedFile& file : files) sum += file.bytes;
  return sum;
}

bool is_sendable_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMostNameBytes && name.front() != '.' &&
         std::ranges::all_of(name, plain);
}

FolderOffer offer_folder(FolderKind kind, std::int64_t step, const fs::path& folder) {
  FolderOffer offer{kind, step, {}};
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !is_sendable_name(name)) continue;
    const FileHash found = hash_file(entry.path());
    offer.files.push_back({name, found.bytes, found.hash});
  }
  std::ranges::sort(offer.files, {}, &OfferedFile::name);
  return offer;
}

std::string to_message(const FolderOffer& offer) {
  WireWriter out;
  out.u8(static_cast<std::uint8_t>(FolderWord::offer));
  out.u8(static_cast<std::uint8_t>(offer.kind)).i64(offer.step);
  out.u32(static_cast<std::uint32_t>(offer.files.size()));
  for (const OfferedFile& file : offer.files) {
    out.text(file.name);
    out.i64(static_cast<std::int64_t>(file.bytes)).i64(static_cast<std::int64_t>(file.hash));
  }
  return out.take();
}

std::optional<FolderOffer> offer_from(std::string_view message) {
  WireReader in(message);
  FolderOffer offer;
  const bool is_offer = in.u8() == static_cast<std::uint8_t>(FolderWord::offer);
  const std::uint8_t kind = in.u8();
  offer.kind = static_cast<FolderKind>(kind);
  offer.step = in.i64();
  const std::uint32_t count = in.u32();
  if (!is_offer || kind < 1 || kind > 2 || offer.step < 0 || count > kMostFiles) return {};
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    OfferedFile file;
    file.name = in.text();
    const std::int64_t bytes = in.i64();
    file.bytes = static_cast<std::uint64_t>(bytes);
    file.hash = static_cast<std::uint64_t>(in.i64());
    const bool again =
        std::ranges::find(offer.files, file.name, &OfferedFile::name) != offer.files.end();
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // so that sums stay sums
    if (!is_sendable_name(file.name) || again || bytes < 0 || bytes > kMostBytes) return {};
    offer.files.push_back(std::move(file));
  }
  if (!in.complete()) return {};
  return offer;
}

}  // namespace tandem
