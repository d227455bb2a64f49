// partial_file: a file that is still arriving, as NAME.part beside NAME.part.state, which says what
// its bytes belong to. It survives the end of the process, so that a later one can go on. NAME
// itself appears by commit() only: whole and durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files.h"
#include "data/download/http_rules.h"

namespace tandem {

class PartialFile {
 public:
  // Finds what an earlier process left. Bytes that nothing identifies are not used.
  explicit PartialFile(fs::path target);
  ~PartialFile();  // keeps what arrived; an empty left-over is removed
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const fs::path& path() const { return part_; }
  const Origin& origin() const { return origin_; }
  std::uint64_t size() const { return size_; }

  void restart(const Origin& origin);  // drops the bytes at hand, then remembers the origin
  void append(std::span<const std::byte> bytes);
  void sync();    // what arrived is on disk
  void commit();  // under its final name, durably; call sync() first
  void discard();

 private:
  void open_part(int extra_flags);
  fs::path target_, part_, state_;
  FileDescriptor fd_;
  Origin origin_;
  std::uint64_t size_ = 0;
};

// Keeps a second process from downloading into the same folder while the result lives.
FileDescriptor lock_folder(const fs::path& folder);

}  // namespace tandem
