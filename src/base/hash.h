// hash: 64-bit content hashes (XXH3) for data we wrote ourselves, SHA-256 for files from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

std::uint64_t hash64(std::span<const std::byte> bytes);
std::uint64_t hash64(std::string_view text);

// 16 lower-case hex digits; the form in which hashes are shown and stored in JSON.
std::string hash_text(std::uint64_t hash);

// The same hash over bytes that arrive in pieces.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(Hasher64&&) noexcept;
  Hasher64& operator=(Hasher64&&) noexcept;
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
