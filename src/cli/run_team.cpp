#include "cli/run_team.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "cli/run_setup.h"

namespace tandem {
namespace {

// A collective may wait long for a worker that saves to a slow disk; the heartbeat notices the
// dead.
constexpr std::chrono::minutes kPatience{30};
constexpr std::chrono::seconds kLastWords{1};  // of a process whose main thread is stuck

void say(const std::string& line) {
  const std::string text = format("tandem: {}\n", line);
  std::fputs(text.c_str(), stderr);
}

std::string restart_note(const LaunchInfo& launch) {
  if (launch.restart == 0) return {};
  return format("restart {}: {}", launch.restart,
                launch.cause.empty() ? "the launcher started all workers again" : launch.cause);
}

// Asked before all are connected, too, when there is a meeting but no Comm yet.
int workers_beside(const World& world) {
  return static_cast<int>(world.ranks_of_host(world.self().host_index).size());
}

}  // namespace

Team::Team(const RunConfig& config, const EnvMap& env, const std::atomic<bool>& stop)
    : device_(config.device) {
  MeetingOptions options = meeting_options(config.cluster, env);
  restarted_ = restart_note(options.launch);
  if (options.launch.size == 1) {
    World alone = world_of_one();
    alone.workers.front().host = options.host.name;
    comm_ = std::make_unique<Comm>(std::move(alone));
    own_store_ = memory_store();
    return;
  }
  host_ = options.host.name;
  launched_ = describe(options.launch, options.host.name);
  started_here_ = options.launch.by == Launcher::local;
  first_ = options.launch.rank == 0;
  if (first_) options.say = say;
  options.on_event = [this](const std::string& text) { tell("straggler", text); };
  options.on_refused = [this](const std::string& text) { tell("stranger", text); };
  options.stop = &stop;
  options.on_lost = [this](const std::string& cause) { lost(cause); };
  options.on_cut_off = [this](const std::string& why) { cut_off(why); };
  meeting_ = meet(options);
  if (first_ && meeting_->world().hosts() > 1) say(meeting_->reason());
  work([&] { connect(); });
}

void Team::connect() {
  CommSetting setting;
  setting.address = meeting_->world().self().address;
  setting.timeout = kPatience;
  setting.device = device_of(device_, meeting_->world().self().local_rank);
  // A launcher may show each worker its own GPU only; --workers shows all to each.
  check_device(setting.device,
               started_here_ ? workers_beside(meeting_->world()) : setting.device.index() + 1);
  if (setting.device.is_cuda()) {
    // NCCL would choose by itself: it takes the interface that was checked, unless told otherwise.
    const bool apart = meeting_->world().hosts() > 1;
    ::setenv("NCCL_SOCKET_IFNAME", ("=" + (apart ? meeting_->interface() : "lo")).c_str(), 0);
  }
  setting.explain = [this](const std::string& reason) {
    return meeting_->heartbeat().explain(reason);
  };
  setting.warn = [this](const std::string& text) { tell("warning", text); };
  setting.sign = &meeting_->heartbeat().work_sign();
  comm_ = std::make_unique<Comm>(meeting_->store(), meeting_->world(), setting);
}

Team::~Team() = default;

int Team::workers_of_host() const {
  return workers_beside(world());
}

std::string Team::interface() const {
  return meeting_ && world().hosts() > 1 ? meeting_->interface() : "";
}

std::string Team::summary() const {
  if (!meeting_) return {};
  return format("workers     {} on {} host{}; {}", world().size(), world().hosts(),
                world().hosts() == 1 ? "" : "s", launched_);
}

Json Team::facts() const {
  Json workers = Json::array();
  for (const Worker& worker : world().workers) {
    workers.push(Json::object()
                     .set("host", worker.host)
                     .set("pid", worker.pid)
                     .set("device", device_of(device_, worker.local_rank).str()));
  }
  return Json::object()
      .set("workers", world().size())
      .set("hosts", world().hosts())
      .set("launched", launched_)
      .set("by_rank", std::move(workers));
}

JournalHome* Team::journal_home() {
  return meeting_ && world().hosts() > 1 && world().rank == 0 ? &meeting_->journal_home() : nullptr;
}

std::unique_ptr<JournalCopy> Team::copy_journal(const fs::path& file) {
  const bool keeps = meeting_ && world().is_leader() && world().self().host_index > 0;
  return keeps ? meeting_->copy_journal(file) : nullptr;
}

std::vector<std::int64_t> Team::processes_of_host() const {
  std::vector<std::int64_t> ids;
  for (const Worker& worker : world().workers) {
    if (worker.host_index == world().self().host_index && worker.pid > 0) ids.push_back(worker.pid);
  }
  return ids;
}

std::unique_ptr<GradExchange> Team::exchange(FlatParams& params, const ExchangeChoice& choice,
                                             const ShardPlan& shards) {
  ExchangeSetting setting;
  setting.shards = shards;
  setting.format = choice.format;
  if (choice.mode == ExchangeMode::local) setting.among = Group::host;
  if (meeting_ && workers_of_host() > 1 && params.device().is_cpu()) {
    const auto size = static_cast<std::size_t>(params.gradients().numel());
    // Mode local: and what comes back from other hosts. Memory that nobody touches costs nothing.
    const std::size_t buffers = choice.mode == ExchangeMode::local ? 2 : 1;
    memory_ = HostMemory::share(meeting_->store(), world(), buffers * size, kPatience);
    if (memory_) {
      params.move_gradients(
          at::from_blob(memory_->floats(memory_->place()).data(), {params.gradients().numel()}));
    }
    setting.memory = memory_.get();
  }
  std::vector<GradSlot> slots;
  for (std::size_t i = 0; i < params.slots().size(); ++i) {
    slots.push_back({params.parameter(i), params.slots()[i].offset, params.slots()[i].count});
  }
  return std::make_unique<GradExchange>(*comm_, params.gradients(), std::move(slots), setting);
}

std::unique_ptr<LocalExchange> Team::local_exchange(FlatParams& params,
                                                    const ExchangeChoice& choice,
                                                    const ClusterConfig& config, std::int64_t step,
                                                    const LocalBasis& basis) {
  if (choice.mode != ExchangeMode::local) return nullptr;
  meeting_->be_patient(std::chrono::milliseconds(std::llround(1000 * config.local_timeout)));
  LocalSetting setting;
  setting.format = choice.format;
  setting.rhythm = choice.rhythm;
  setting.momentum = config.local_momentum.value_or(local_momentum(world().hosts()));
  setting.follows_link = !config.local_steps;
  setting.basis = basis;
  setting.delay = config.local_delay;
  setting.memory = memory_.get();
  setting.on_stop = [this](std::int64_t last) {
    tell("signal",
         format("a worker of {} was told to stop: all hosts do so after step {}, when they next "
                "hear of each other",
                host_, last));
  };
  std::vector<GradRange> slots;
  for (const FlatParams::Slot& slot : params.slots()) {
    slots.push_back({slot.offset, slot.offset + slot.count});
  }
  return std::make_unique<LocalExchange>(
      *comm_, LocalBuffers{params.values(), params.gradients(), std::move(slots)}, setting, step);
}

void Team::at(std::int64_t step, const char* phase) {
  step_ = step;
  if (meeting_) meeting_->heartbeat().at(step, phase);
}

void Team::progressed() {
  if (meeting_) meeting_->heartbeat().work_sign().tick();
}

void Team::worked(double seconds) {
  if (meeting_) meeting_->heartbeat().worked(seconds);
}

bool Team::wants_stop(const std::atomic<bool>& stop) {
  if (!meeting_) return stop;
  progressed();
  if (stop) meeting_->heartbeat().want_stop();
  return meeting_->heartbeat().stop_wanted();
}

std::vector<TeamEvent> Team::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void Team::leave() {
  if (!meeting_) return;
  comm_->barrier();
  meeting_->heartbeat().finish();
}

// Rank 0's become events of the journal, as it writes it; another worker's are lines of its log.
void Team::tell(const char* kind, const std::string& text) {
  if (!first_) return say(format("{}: {}", host_, text));
  const std::lock_guard lock(mutex_);
  events_.push_back({kind, text});
}

// What all workers notice alike is rank 0's to say; the others wait a moment for its word.
void Team::failed(const std::string& what) {
  if (!meeting_) return;
  ending_ = true;
  Heartbeat& heartbeat = meeting_->heartbeat();
  const World& all = meeting_->world();
  if (all.rank == 0) {
    heartbeat.fail(what);
  } else if (heartbeat.explain("").empty()) {
    heartbeat.fail(format("{}: {}", all.name_of(all.rank), what));
  }
  // Taking its connections down in order could wait for the worker that is gone.
  static_cast<void>(comm_.release());
}

// On the heartbeat's thread. A collective that waits for the lost worker fails by itself, and the
// run ends in order; a worker that is stuck or computes for long is ended here.
void Team::lost(const std::string& cause) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(800);
  while (std::chrono::steady_clock::now() < deadline) {
    if (ending_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (first_) {
    // A disk that hangs must not keep the process.
    std::packaged_task<void()> tell([this, cause] { do_before_end(cause); });
    const std::future<void> told = tell.get_future();
    std::thread(std::move(tell)).detach();
    told.wait_for(kLastWords);
  }
  end_process(cause);
}

Team::BeforeEnd::BeforeEnd(Team& team, std::function<void(const std::string& lost)> work)
    : team_(team) {
  const std::lock_guard lock(team_.before_end_mutex_);
  team_.before_end_ = std::move(work);
}

Team::BeforeEnd::~BeforeEnd() {
  const std::lock_guard lock(team_.before_end_mutex_);
  team_.before_end_ = nullptr;
}

void Team::do_before_end(const std::string& lost) {
  const std::lock_guard lock(before_end_mutex_);
  if (before_end_) before_end_(lost);
}

// On the heartbeat's thread. The newest checkpoint is one that all hosts have agreed on and have
// their parts of: to save a later step without the others would make a run of another course.
void Team::cut_off(const std::string& why) {
  const std::string text = format(
      "stopped by a signal at step {}; {}, so the hosts could not agree on a last step: run the "
      "same command to go on from the newest checkpoint",
      step_.load(), why);
  if (first_) {
    tell("signal", text);
    do_before_end("");
    meeting_->heartbeat().say_cut_off(text);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // others of this host end, too
  }
  end_process(text, ExitCode::interrupted);
}

}  // namespace tandem
