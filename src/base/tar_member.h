// tar_member: one file inside a tar archive, plain or gzip, read in one pass and bounded memory;
// nothing is unpacked to disk. Archives are taken as hostile: a header that does not match its own
// checksum, an archive that ends early and a name that is not in it are UserErrors that name both.
#pragma once

#include <string>

#include "base/byte_source.h"

namespace tandem {

// member: its path as `tar -t` shows it, with or without "./". The first file of that name is read;
// paths of over 255 bytes are not found.
std::unique_ptr<ByteSource> open_member(const std::filesystem::path& archive,
                                        const std::string& member);

}  // namespace tandem
