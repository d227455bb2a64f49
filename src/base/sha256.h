// sha256: SHA-256 of bytes that arrive in pieces, as 64 lower-case hex digits; and the keyed hash
// built on it, by which two sides that share a secret recognise each other.
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

// HMAC-SHA256 (RFC 2104): 32 bytes that only who knows the key can make.
inline constexpr std::size_t kHmacBytes = 32;
std::string hmac_sha256(std::string_view key, std::string_view message);

// Takes equally long wherever the two differ, so that a secret cannot be guessed byte by byte.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace tandem
