// folder_sender: sends a folder to the receiver of another worker (folder_receiver.h) and returns
// when it is checked and in place there.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "cluster/folder_offer.h"
#include "cluster/tcp.h"

namespace tandem {

struct SendSetting {
  Endpoint to;
  std::string token;  // of the job
  int rank = 0, size = 1;
  std::chrono::seconds patience{60};  // without a byte taken or a word said
  std::function<void(std::uint64_t bytes)> progress = [](std::uint64_t) {};
  std::stop_token stop = {};
};

enum class Sent { all, had_it, stopped };

// The folder may vanish under its name meanwhile: its files are opened first. What goes wrong, here
// or there, is an EnvError; so is a stop that breaks off a piece.
Sent send_folder(const fs::path& folder, const FolderOffer& offer, const SendSetting& setting);

}  // namespace tandem
