#include "base/file_hash.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/hash.h"

namespace tandem {
namespace {

constexpr std::size_t kHashedBlockBytes = std::size_t{256} << 10;  // stays in the processor's cache

}  // namespace

FileHash hash_file(const fs::path& path) {
  const FileDescriptor fd = open_regular_file(path);
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
