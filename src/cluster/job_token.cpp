#include "cluster/job_token.h"

#include <sys/random.h>

#include <cerrno>

#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"

namespace tandem {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t done = 0;
  while (done < count) {
    const ssize_t n = ::getrandom(bytes.data() + done, count - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw EnvError(format("no random bytes: {}", errno_text(errno)));
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

JobToken random_token() {
  return {random_bytes(kTokenBytes), false};
}

JobToken token_of(const LaunchInfo& info) {
  if (!info.secret.empty() && info.secret.size() < kShortestSecret) {
    throw UserError(
        format("TANDEM_TOKEN: a token of fewer than {} characters is no secret; make one with "
               "`openssl rand -hex 16`",
               kShortestSecret));
  }
  const std::string key = info.secret.empty() ? "tandem" : info.secret;
  // Every agent of torchrun counts the restarts of its own host, so their numbers may differ.
  const int round = info.by == Launcher::torchrun ? 0 : info.restart;
  const std::string job =
      format("{}\n{}\n{}\n{}\n{}", info.meeting, info.port, info.size, info.job, round);
  return {hmac_sha256(key, job), info.secret.empty()};
}

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = digit_of(hex[i]), low = digit_of(hex[i + 1]);
    if (high < 0 || low < 0) return "";
    bytes += static_cast<char>(high * 16 + low);
  }
  return hex.size() % 2 == 0 ? bytes : "";
}

}  // namespace tandem
