// checksum_list: the SHA256SUMS file of a folder, in the form that `sha256sum -c` reads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace tandem {

using ChecksumList = std::map<std::string, std::string>;  // file name -> sha256

// Lines that are no "HASH  NAME" are passed over.
ChecksumList parse_checksums(std::string_view text);
std::string checksums_text(const ChecksumList& sums);

// An absent file is an empty list.
ChecksumList read_checksums(const std::filesystem::path& path);

}  // namespace tandem
