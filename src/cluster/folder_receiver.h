// folder_receiver: takes folders from other workers of the run (folder_offer.h). A folder appears
// under its name when every byte has arrived, its hashes fit and its own check finds nothing wrong;
// before that there is only a hidden one beside it, which goes away with the connection.
//
//   FolderReceiver receiver({own_address, token, world_size, tell_of_strangers}, place);
//   store.set("files/1", to_text(receiver.at()));        // who wants to send calls there
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "cluster/folder_offer.h"
#include "cluster/hub.h"

namespace tandem {

// What becomes of an offer.
struct FolderPlace {
  std::string refusal = {};  // a sentence; empty: it is welcome
  bool have = false;         // the same is here already
  fs::path target = {};      // replaced when it is there
  // Looks at the folder before it gets its name; a sentence when something is wrong.
  std::function<std::string(const fs::path& folder)> problem = [](const fs::path&) {
    return std::string();
  };
  std::function<void()> kept = [] {};  // after it has its name
  std::mutex* order = nullptr;         // held from problem() until after kept()
};
// Called on the receiver's thread, like the functions above. They may throw.
using PlaceOfFolder = std::function<FolderPlace(const FolderOffer&)>;

struct FolderEnd {
  std::string address;  // of this host, where the others reach it
  std::string token;    // of the job
  int size = 1;         // workers of the world
  // Strangers that were refused, now and then; called on the receiver's thread.
  std::function<void(const std::string& text)> on_refused = {};
};

class FolderReceiver {
 public:
  // Listens on that address only, at a port that the system chooses.
  FolderReceiver(const FolderEnd& end, PlaceOfFolder place);
  ~FolderReceiver();
  const Endpoint& at() const { return at_; }

 private:
  class Service;
  Endpoint at_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Hub> hub_;
};

}  // namespace tandem
