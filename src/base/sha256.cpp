#include "base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"

namespace tandem {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context new_context() {
  Context context(EVP_MD_CTX_new());
  if (!context) throw std::bad_alloc();
  return context;
}

// OpenSSL's digests fail for lack of memory only, or where a policy of the machine forbids them.
void demand(int openssl_result) {
  if (openssl_result != 1) throw EnvError("OpenSSL refuses to compute SHA-256 on this machine");
}

}  // namespace

struct Sha256::State {
  Context context = new_context();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  demand(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::span<const std::byte> bytes) {
  demand(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex() const {
  const Context copy = new_context();  // finishing ends a context, ours goes on
  demand(EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()));
  std::array<unsigned char, 32> digest{};
  demand(EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr));
  return format("{:02x}", join(digest, ""));
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const FileDescriptor fd = open_for_reading(path);
  std::vector<std::byte> block(1 << 18);
  Sha256 hash;
  for (;;) {
    const ssize_t n = ::read(fd.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw EnvError(format("cannot read {}: {}", path.string(), errno_text(errno)));
    if (n == 0) return hash.hex();
    hash.add(std::span(block).first(static_cast<std::size_t>(n)));
  }
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::array<unsigned char, kHmacBytes> digest{};
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  const bool done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes,
                         message.size(), digest.data(), nullptr) != nullptr;
  demand(done ? 1 : 0);
  return {digest.begin(), digest.end()};
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tandem
