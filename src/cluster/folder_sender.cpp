#include "cluster/folder_sender.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "cluster/handshake.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr int kChecking = 10;  // times the patience: the receiver reads all of it again

class Conversation {
 public:
  explicit Conversation(const SendSetting& setting) : setting_(setting) {
    std::string problem;
    fd_ = call(setting.to, setting.token, {Purpose::files, setting.rank, setting.size}, deadline(),
               problem);
    if (fd_.get() < 0) throw EnvError(format("{}: {}", to_text(setting.to), problem));
  }

  void say(std::string_view message) {
    const Transfer went = write_all(fd_.get(), framed(message), deadline());
    if (went == Transfer::done) return;
    if (went == Transfer::late) throw EnvError(format("{} takes nothing", to_text(setting_.to)));
    hear();  // its last words say more than a broken connection
    throw EnvError(format("{} closed the connection", to_text(setting_.to)));
  }

  // A receiver that cannot go on says so while it is still being sent to.
  bool is_spoken_to() const {
    char byte = 0;
    return ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }

  FolderWord hear(int patiences = 1) {
    std::string message;
    if (read_frame(fd_.get(), message, deadline(patiences)) != Transfer::done) {
      throw EnvError(format("{} closed the connection or does not answer", to_text(setting_.to)));
    }
    WireReader in(message);
    const auto word = static_cast<FolderWord>(in.u8());
    const std::string why(in.text());
    if (word == FolderWord::refused) throw EnvError(why);
    return word;
  }

 private:
  SteadyTime deadline(int patiences = 1) const {
    return std::chrono::steady_clock::now() + setting_.patience * patiences;
  }

  const SendSetting& setting_;
  FileDescriptor fd_;
  // A stop does not wait for a link that takes nothing.
  std::stop_callback<std::function<void()>> hang_up_{setting_.stop,
                                                     [this] { ::shutdown(fd_.get(), SHUT_RDWR); }};
};

}  // namespace

Sent send_folder(const fs::path& folder, const FolderOffer& offer, const SendSetting& setting) {
  std::vector<MappedFile> files;
  for (const OfferedFile& file : offer.files) files.emplace_back(folder / file.name);
  Conversation other(setting);
  other.say(to_message(offer));
  if (other.hear() == FolderWord::have) return Sent::had_it;
  std::uint64_t sent = 0;
  for (std::size_t number = 0; number < files.size(); ++number) {
    auto rest = files[number].bytes();
    while (!rest.empty()) {
      if (setting.stop.stop_requested()) return Sent::stopped;
      if (other.is_spoken_to()) other.hear();
      const auto piece = rest.first(std::min(rest.size(), kPieceBytes));
      rest = rest.subspan(piece.size());
      other.say(WireWriter()
                    .u8(static_cast<std::uint8_t>(FolderWord::data))
                    .u32(static_cast<std::uint32_t>(number))
                    .text({reinterpret_cast<const char*>(piece.data()), piece.size()})
                    .take());
      sent += piece.size();
      setting.progress(sent);
    }
  }
  other.say(WireWriter().u8(static_cast<std::uint8_t>(FolderWord::end)).take());
  if (other.hear(kChecking) != FolderWord::kept) throw EnvError("an answer without sense");
  return Sent::all;
}

}  // namespace tandem
