#include "base/file_hash.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"

namespace tandem {
namespace {

constexpr std::size_t kHashedBlockBytes = std::size_t{256} << 10;  // stays in the processor's cache

}  // namespace

FileHash hash_file(const fs::path& path) {
  if (std::error_code unknown; fs::is_other(path, unknown)) {  // before it is opened: pipes wait
    throw UserError(format("cannot read {}: it is a device or a pipe, not a file", path.string()));
  }
  const FileDescriptor fd = open_for_reading(path);
  std::vector<std::byte> block(kHashedBlockBytes);
  Hasher64 hasher;
  FileHash found;
  for (;;) {
    const ssize_t n = ::read(fd.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_cannot("read", path, errno);
    if (n == 0) break;
    hasher.add(std::span(block).first(static_cast<std::size_t>(n)));
    found.bytes += static_cast<std::uint64_t>(n);
  }
  found.hash = hasher.value();
  return found;
}

}  // namespace tandem
