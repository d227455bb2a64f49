#include "cluster/folder_receiver.h"

#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

std::string folder_message(FolderWord word, std::string_view text = {}) {
  return WireWriter().u8(static_cast<std::uint8_t>(word)).text(text).take();
}

// A folder that is arriving.
class ArrivingFolder {
 public:
  ArrivingFolder(FolderOffer offer, FolderPlace place)
      : offer_(std::move(offer)), place_(std::move(place)), staged_(place_.target, true) {
    const auto room = fs::space(staged_.path()).available;
    if (room < offer_.bytes()) {
      throw EnvError(format("{} needs {} bytes, {} are free; make room", place_.target.string(),
                            offer_.bytes(), room));
    }
  }

  void add(std::uint32_t number, std::string_view bytes) {
    while (!file_ || number != number_) {  // files come in order; empty ones have no data
      if (file_) finish_file();
      if (next_ > number || next_ >= offer_.files.size()) throw EnvError("files out of order");
      begin_file();
    }
    if (file_->size() + bytes.size() > offer_.files[number_].bytes) {
      throw EnvError(format("{} is longer than it was said to be", offer_.files[number_].name));
    }
    const auto data = std::as_bytes(std::span{bytes});
    hasher_.add(data);
    file_->write(data);
  }

  void finish() {
    if (file_) finish_file();
    while (next_ < offer_.files.size()) {
      begin_file();
      finish_file();
    }
    std::unique_lock<std::mutex> in_order;
    if (place_.order != nullptr) in_order = std::unique_lock(*place_.order);
    const std::string problem = place_.problem(staged_.path());
    if (!problem.empty()) throw EnvError(problem);
    staged_.commit();
    place_.kept();
  }

 private:
  void begin_file() {
    number_ = next_++;
    file_.emplace(staged_.path() / offer_.files[number_].name);
    hasher_ = Hasher64();
  }

  void finish_file() {
    const OfferedFile& expected = offer_.files[number_];
    file_->finish();
    const bool whole = file_->size() == expected.bytes && hasher_.value() == expected.hash;
    file_.reset();
    if (!whole) throw EnvError(format("{} did not arrive whole", expected.name));
  }

  FolderOffer offer_;
  FolderPlace place_;
  StagedDirectory staged_;
  std::optional<FileWriter> file_;
  Hasher64 hasher_;
  std::uint32_t number_ = 0, next_ = 0;
};

}  // namespace

class FolderReceiver::Service final : public HubService {
 public:
  explicit Service(PlaceOfFolder place) : place_(std::move(place)) {}

  void received(const Peer& peer, std::string_view message, HubPeers& peers) override try {
    const auto at = arriving_.find(peer.id);
    WireReader in(message);
    const auto said = static_cast<FolderWord>(in.u8());
    if (at == arriving_.end()) return consider(peer, message, peers);
    if (said == FolderWord::data) {
      const std::uint32_t number = in.u32();
      const std::string_view bytes = in.text();
      if (!in.complete()) throw EnvError("a message without sense");
      return at->second->add(number, bytes);
    }
    if (said != FolderWord::end) throw EnvError("a message without sense");
    at->second->finish();
    arriving_.erase(at);
    peers.send(peer.id, folder_message(FolderWord::kept));
  } catch (const std::exception& error) {
    // The words go before the connection does: what is still arriving is passed over.
    arriving_.erase(peer.id);
    refused_.insert(peer.id);
    peers.send(peer.id, folder_message(FolderWord::refused, error.what()));
  }

  void closed(const Peer& peer, HubPeers&) override {
    arriving_.erase(peer.id);
    refused_.erase(peer.id);
  }

 private:
  void consider(const Peer& peer, std::string_view message, HubPeers& peers) {
    if (refused_.contains(peer.id)) return;
    auto offer = offer_from(message);
    if (!offer) throw EnvError("an offer without sense");
    FolderPlace place = place_(*offer);
    if (!place.refusal.empty()) throw EnvError(place.refusal);
    if (place.have) return peers.send(peer.id, folder_message(FolderWord::have));
    arriving_[peer.id] = std::make_unique<ArrivingFolder>(std::move(*offer), std::move(place));
    peers.send(peer.id, folder_message(FolderWord::go));
  }

  PlaceOfFolder place_;
  std::map<std::int64_t, std::unique_ptr<ArrivingFolder>> arriving_;  // by connection
  std::set<std::int64_t> refused_;
};

FolderReceiver::FolderReceiver(const FolderEnd& end, PlaceOfFolder place)
    : service_(std::make_unique<Service>(std::move(place))) {
  std::string problem;
  auto socket = listen_at({end.address, 0}, problem);
  if (!socket) throw EnvError(format("cannot listen at {}: {}", end.address, problem));
  at_ = socket->at;
  HubOptions options;
  options.token = end.token;
  options.size = end.size;
  if (end.on_refused) {
    options.say = [tell = end.on_refused](const std::string& text) {
      tell("port for files: " + text);
    };
  }
  std::vector<ListeningSocket> sockets;
  sockets.push_back(std::move(*socket));
  hub_ = std::make_unique<Hub>(std::move(sockets), options,
                               std::map<Purpose, HubService*>{{Purpose::files, service_.get()}});
}

FolderReceiver::~FolderReceiver() = default;

}  // namespace tandem
