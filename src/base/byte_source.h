// byte_source: the bytes of a file, block by block, unpacked where it is gzip (told by its first
// bytes). A gzip file that is cut short or damaged is a UserError when that place is reached.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace tandem {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to out.size() bytes; 0 at the end.
  virtual std::size_t read(std::span<char> out) = 0;
  // Of the file as it lies on disk: what progress is measured in.
  virtual std::uint64_t bytes_read() const = 0;
};

// path "-" reads standard input.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

}  // namespace tandem
