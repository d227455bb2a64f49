// sha256: SHA-256 of bytes that arrive in pieces, as 64 lower-case hex digits.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span{text})); }
  std::string hex() const;  // of what was added so far; adding may go on

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads the file once, in constant memory.
std::string sha256_of_file(const std::filesystem::path& path);

// 64 lower-case hex digits: the only form in which this program compares such hashes.
bool is_sha256_hex(std::string_view text);

}  // namespace tandem
