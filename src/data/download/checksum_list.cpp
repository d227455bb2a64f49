#include "data/download/checksum_list.h"

#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"

namespace tandem {

ChecksumList parse_checksums(std::string_view text) {
  constexpr std::size_t kHash = 64, kGap = 2;  // the second blank is a * for binary mode
  ChecksumList sums;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() <= kHash + kGap || line[kHash] != ' ') continue;
    const std::string_view hash = line.substr(0, kHash);
    if (is_sha256_hex(hash)) sums[std::string(line.substr(kHash + kGap))] = hash;
  }
  return sums;
}

std::string checksums_text(const ChecksumList& sums) {
  std::string text;
  for (const auto& [name, hash] : sums) text += format("{}  {}\n", hash, name);
  return text;
}

ChecksumList read_checksums(const std::filesystem::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? parse_checksums(read_file(path)) : ChecksumList{};
}

}  // namespace tandem
