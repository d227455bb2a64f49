#include "cli/run_files.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/file_hash.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/scaled_text.h"
#include "base/sha256.h"
#include "cli/run_setup.h"
#include "cluster/comm_text.h"
#include "data/dataset.h"
#include "train/checkpoint_store.h"
#include "train/retention.h"
#include "train/run_summary.h"

namespace tandem {
namespace {

constexpr const char* kDatasetSent = "files/dataset sent";
constexpr const char* kCheckpointWanted = "files/checkpoint wanted";
constexpr const char* kCheckpointSent = "files/checkpoint sent";

std::string receiver_key(int host) {
  return format("files/receiver of host {}", host);
}

// Who may send files is who knows the job token, but a proof for this is none for anything else.
std::string files_token(const std::string& job_token) {
  return hmac_sha256(job_token, "files");
}

DataConfig data_at(const std::string& path) {
  DataConfig config;
  config.path = path;
  return config;
}

// What tells datasets apart; empty: there is none that can be used.
std::string dataset_identity(const std::string& path) try {
  const Dataset whole(data_at(path));
  return hash_text(hash64(read_file(fs::path(path) / "card.json")));
} catch (const UserError&) {
  return {};
}

std::string dataset_problem(const fs::path& path) try {
  verify_dataset(path);
  return {};
} catch (const UserError& error) {
  return error.what();
}

std::int64_t step_of(const ResumePoint& point) {
  if (!point.checkpoint) return -1;
  return step_of_checkpoint(point.checkpoint->filename().string()).value_or(-1);
}

bool has_file(const fs::path& path, const FolderOffer& offer) {
  const auto at = std::ranges::find(offer.files, path.filename().string(), &OfferedFile::name);
  return at != offer.files.end() && fs::exists(path) && hash_file(path).hash == at->hash;
}

}  // namespace

HostFiles::HostFiles(Team& team, const RunConfig& config, const std::atomic<bool>& stop)
    : team_(team),
      config_(config),
      run_(config.run),
      datasets_(dataset_folders(config.data)),
      stop_(stop) {
  if (!several_hosts() || !leads()) return;
  const World& world = team_.world();
  receiver_ = std::make_unique<FolderReceiver>(
      FolderEnd{world.self().address, files_token(team_.token()), world.size(), team_.on_refused()},
      [this](const FolderOffer& offer) { return place_of(offer); });
  team_.store().set(receiver_key(world.self().host_index), format("{}", receiver_->at().port));
}

FolderPlace HostFiles::place_of(const FolderOffer& offer) {
  if (offer.kind == FolderKind::checkpoint) return place_of_checkpoint(offer);
  if (!config_.data.distribute || team_.world().rank == 0) {
    return {.refusal = "no dataset is wanted here"};
  }
  const auto number = static_cast<std::size_t>(offer.step);
  if (number >= datasets_.size()) {
    return {.refusal = format("data.corpora names {} datasets here, but there are more to send",
                              datasets_.size())};
  }
  const std::string& target = datasets_[number];
  // It may be the only copy of somebody's text.
  if (const std::string reason = reason_not_to_replace(target); !reason.empty()) {
    return {.refusal = format("{}: move it away, or name another place in data.path", reason)};
  }
  return {.target = target, .problem = dataset_problem};
}

FolderPlace HostFiles::place_of_checkpoint(const FolderOffer& offer) {
  const bool wanted =
      team_.world().rank == 0 ? offer.step == fetched_step_ : config_.checkpoint.mirror;
  if (!wanted) return {.refusal = "no checkpoint is wanted here"};
  FolderPlace place;
  place.target = run_.checkpoint(offer.step);
  place.have =
      has_file(place.target / kManifestFile, offer) && checkpoint_problem(place.target).empty();
  place.order = &course_.order();
  place.problem = [this, step = offer.step](const fs::path& folder) {
    return course_.problem(folder, step);
  };
  place.kept = [this, step = offer.step] {
    atomic_write(run_.latest(), checkpoint_name(step) + "\n");
    if (team_.world().rank != 0) delete_old_checkpoints(run_, config_.checkpoint.keep, step);
  };
  return place;
}

SendSetting HostFiles::line_to(int host) {
  const World& world = team_.world();
  const std::string port = team_.store().get(receiver_key(host), std::chrono::seconds(60));
  SendSetting setting;
  setting.to = {world.workers.at(static_cast<std::size_t>(world.leader_of(host))).address,
                std::stoi(port)};
  setting.token = files_token(team_.token());
  setting.rank = world.rank;
  setting.size = world.size();
  return setting;
}

// Whoever dies meanwhile is noticed by the heartbeat, which ends the waiting.
std::string HostFiles::wait_for(const std::string& key) {
  while (!team_.store().has(key)) {
    if (stop_) throw Interrupted("stopped while hosts were sending files; nothing is half-written");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return team_.store().get(key, std::chrono::seconds(10));
}

void HostFiles::share_datasets() {
  if (!config_.data.distribute || !several_hosts()) return;
  team_.at(0, "sending the dataset");
  const auto counts = texts_of_all(team_.comm(), format("{}", datasets_.size()));
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] == counts.front()) continue;
    throw UserError(
        format("{} and {} name different numbers of datasets ({} and {}) in data.path "
               "and data.corpora; start all workers with the same settings",
               team_.world().name_of(static_cast<int>(rank)), team_.world().name_of(0),
               counts[rank], counts.front()));
  }
  for (std::size_t i = 0; i < datasets_.size(); ++i) share_dataset(static_cast<std::int64_t>(i));
}

// What tells it apart. On another host every byte of it is read, which the others wait for: a
// damaged one is sent again like one that is not there.
std::string HostFiles::sound_dataset(const std::string& path) {
  const std::string identity = dataset_identity(path);
  if (team_.world().rank == 0 || identity.empty()) return identity;
  auto problem = std::async(std::launch::async, [&path] { return dataset_problem(path); });
  while (problem.wait_for(std::chrono::seconds(1)) != std::future_status::ready) {
    team_.progressed();
  }
  return problem.get().empty() ? identity : "";
}

void HostFiles::share_dataset(std::int64_t number) {
  const std::string& path = datasets_[static_cast<std::size_t>(number)];
  const std::string sent = format("{} {}", kDatasetSent, number);
  const auto found = texts_of_all(team_.comm(), leads() ? sound_dataset(path) : "");
  const World& world = team_.world();
  if (world.rank != 0) {
    wait_for(sent);
    return;
  }
  if (found.front().empty()) const Dataset says_why(data_at(path));
  FolderOffer offer;
  for (int host = 1; host < world.hosts(); ++host) {
    if (found[static_cast<std::size_t>(world.leader_of(host))] == found.front()) continue;
    if (offer.files.empty()) offer = offer_folder(FolderKind::dataset, number, path);
    send_dataset_to(host, offer);
  }
  team_.store().set(sent, "yes");
}

void HostFiles::send_dataset_to(int host, const FolderOffer& offer) {
  const World& world = team_.world();
  const std::string& name = world.workers[static_cast<std::size_t>(world.leader_of(host))].host;
  const std::string& path = datasets_[static_cast<std::size_t>(offer.step)];
  const auto start = std::chrono::steady_clock::now();
  SendSetting setting = line_to(host);
  {
    constexpr double kMega = 1e6;
    Progress progress(format("sending the dataset to {}", name),
                      static_cast<double>(offer.bytes()) / kMega, "MB");
    setting.progress = [&](std::uint64_t bytes) {
      progress.at(static_cast<double>(bytes) / kMega);
      if (stop_) throw Interrupted(format("stopped; {} has no dataset yet", name));
    };
    try {
      send_folder(path, offer, setting);
    } catch (const EnvError& error) {
      throw EnvError(format("cannot send the dataset to {}: {}", name, error.what()));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  notes_.push_back(format("sent the dataset {} to {}: {} in {:.1f} s", path, name,
                          bytes_text(static_cast<double>(offer.bytes())), took.count()));
}

ResumePoint HostFiles::resume_point(const std::string& choice) {
  const bool first = team_.world().rank == 0;
  if (!several_hosts() || choice != "auto") {
    // A checkpoint on any host is one too many for "never".
    const bool looks = first || (choice == "never" && several_hosts() && leads());
    return looks ? find_resume_point(run_, choice) : ResumePoint{};
  }
  team_.at(0, "looking for checkpoints");
  ResumePoint own;
  if (leads()) own = newest_whole_checkpoint(run_);
  const auto steps = texts_of_all(team_.comm(), format("{}", step_of(own)));
  std::size_t owner = 0;
  for (std::size_t rank = 1; rank < steps.size(); ++rank) {
    if (std::stoll(steps[rank]) > std::stoll(steps[owner])) owner = rank;
  }
  if (owner == 0) {
    if (first) refuse_if_lost(run_, own);
    return own;
  }
  const std::int64_t step = std::stoll(steps[owner]);
  bring_checkpoint(own, static_cast<int>(owner), step);
  if (first) own.checkpoint = run_.checkpoint(step);
  return own;
}

void HostFiles::bring_checkpoint(const ResumePoint& own, int owner, std::int64_t step) {
  const World& world = team_.world();
  if (world.rank == owner) {
    wait_for(kCheckpointWanted);
    const FolderOffer offer = offer_folder(FolderKind::checkpoint, step, *own.checkpoint);
    try {
      send_folder(*own.checkpoint, offer, line_to(0));
    } catch (const EnvError& error) {
      throw EnvError(format("cannot send {} to {}: {}", own.checkpoint->string(),
                            world.workers.front().host, error.what()));
    }
    team_.store().set(kCheckpointSent, bytes_text(static_cast<double>(offer.bytes())));
  } else if (world.rank == 0) {
    fetched_step_ = step;
    team_.store().set(kCheckpointWanted, "yes");
    const std::string size = wait_for(kCheckpointSent);
    notes_.push_back(format("the checkpoint of step {} ({}) came from {}, which has the newest",
                            step, size, world.workers[static_cast<std::size_t>(owner)].host));
  }
}

std::unique_ptr<CheckpointMirror> HostFiles::mirror(Observer& events) {
  if (!config_.checkpoint.mirror || team_.world().rank != 0) return {};
  if (!several_hosts()) {
    notes_.push_back("checkpoint.mirror has no effect: all workers are on one host");
    return {};
  }
  const World& world = team_.world();
  return std::make_unique<CheckpointMirror>(
      run_, line_to(1), world.workers[static_cast<std::size_t>(world.leader_of(1))].host, events);
}

}  // namespace tandem
