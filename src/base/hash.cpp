#include "base/hash.h"

#include <xxhash.h>

#include "base/format.h"

namespace tandem {

std::uint64_t hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t hash64(std::string_view text) {
  return hash64(std::as_bytes(std::span{text}));
}

std::string hash_text(std::uint64_t hash) {
  return format("{:016x}", hash);
}

struct Hasher64::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() { XXH3_64bits_reset(xxh); }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Hasher64::Hasher64() : state_(std::make_unique<State>()) {}
Hasher64::~Hasher64() = default;
Hasher64::Hasher64(Hasher64&&) noexcept = default;
Hasher64& Hasher64::operator=(Hasher64&&) noexcept = default;

void Hasher64::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t Hasher64::value() const {
  return XXH3_64bits_digest(state_->xxh);
}

}  // namespace tandem
