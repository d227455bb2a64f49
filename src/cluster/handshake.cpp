#include "cluster/handshake.h"

#include "base/sha256.h"
#include "cluster/job_token.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

constexpr std::string_view kMagic("tandem\0\1", 8);  // its last byte is the version

std::string caller_fields(const Caller& caller) {
  return WireWriter()
      .u8(static_cast<std::uint8_t>(caller.purpose))
      .u32(static_cast<std::uint32_t>(caller.rank))
      .u32(static_cast<std::uint32_t>(caller.size))
      .take();
}

std::string proof(std::string_view token, std::string_view role, std::string_view hub_nonce,
                  std::string_view caller_nonce, std::string_view fields) {
  return hmac_sha256(
      token, WireWriter().text(role).text(hub_nonce).text(caller_nonce).text(fields).take());
}

std::string hub_proof(std::string_view token, std::string_view hub_nonce,
                      std::string_view caller_nonce, const Caller& caller, std::uint8_t verdict) {
  std::string fields = caller_fields(caller);
  fields += static_cast<char>(verdict);
  return proof(token, "hub", hub_nonce, caller_nonce, fields);
}

std::string problem_of(Transfer transfer, std::string_view closed) {
  return std::string(transfer == Transfer::late ? "no answer" : closed);
}

}  // namespace

std::string greeting(std::string_view nonce) {
  return std::string(kMagic) + std::string(nonce);
}

std::optional<Answer> read_answer(std::string_view token, std::string_view hub_nonce,
                                  std::string_view bytes) {
  WireReader reader(bytes);
  Answer answer;
  answer.nonce = reader.raw(kNonceBytes);
  const std::uint8_t purpose = reader.u8();
  answer.caller.purpose = static_cast<Purpose>(purpose);
  answer.caller.rank = static_cast<int>(reader.u32());
  answer.caller.size = static_cast<int>(reader.u32());
  const std::string_view given = reader.raw(kHmacBytes);
  const std::string expected =
      proof(token, "caller", hub_nonce, answer.nonce, caller_fields(answer.caller));
  if (!reader.complete() || !equal_secrets(given, expected)) return std::nullopt;
  if (purpose < 1 || purpose > static_cast<std::uint8_t>(Purpose::files)) return std::nullopt;
  return answer;
}

std::string verdict_message(std::string_view token, std::string_view hub_nonce,
                            const Answer& answer, Verdict verdict) {
  const auto code = static_cast<std::uint8_t>(verdict);
  return WireWriter()
      .u8(code)
      .raw(hub_proof(token, hub_nonce, answer.nonce, answer.caller, code))
      .take();
}

std::string introduce(int fd, std::string_view token, const Caller& caller, SteadyTime deadline) {
  std::string bytes;
  Transfer transfer = read_exactly(fd, bytes, kGreetingBytes, deadline);
  if (transfer != Transfer::done) return problem_of(transfer, "it closed the connection");
  if (!bytes.starts_with(kMagic)) return "another program, or another version of tandem, listens";
  const std::string hub_nonce = bytes.substr(kMagic.size());
  const std::string nonce = random_bytes(kNonceBytes);
  const std::string fields = caller_fields(caller);
  transfer =
      write_all(fd, nonce + fields + proof(token, "caller", hub_nonce, nonce, fields), deadline);
  if (transfer == Transfer::done) transfer = read_exactly(fd, bytes, kVerdictBytes, deadline);
  if (transfer != Transfer::done) {
    return problem_of(
        transfer,
        "it has another job token (are TANDEM_TOKEN, address, port and number of workers the same "
        "everywhere?)");
  }
  WireReader reader(bytes);
  const std::uint8_t verdict = reader.u8();
  if (!equal_secrets(reader.raw(kHmacBytes), hub_proof(token, hub_nonce, nonce, caller, verdict))) {
    return "it does not know the job token";
  }
  return verdict == static_cast<std::uint8_t>(Verdict::welcome)
             ? ""
             : "it expects another number of workers";
}

FileDescriptor call(const Endpoint& endpoint, std::string_view token, const Caller& caller,
                    SteadyTime deadline, std::string& problem) {
  FileDescriptor fd = connect_to(endpoint, deadline, problem);
  if (fd.get() < 0) return {};
  problem = introduce(fd.get(), token, caller, deadline);
  return problem.empty() ? std::move(fd) : FileDescriptor{};
}

}  // namespace tandem
