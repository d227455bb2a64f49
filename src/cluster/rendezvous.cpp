#include "cluster/rendezvous.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "cluster/host_probe.h"
#include "cluster/meeting_place.h"
#include "cluster/worker_card.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto kLook = milliseconds(30);               // between two looks at the store
constexpr auto kAttempt = milliseconds(2000);          // for one call to rank 0
constexpr auto kCallAgain = std::chrono::seconds(10);  // at least, of a worker that is known
constexpr auto kRefused = milliseconds(6000);          // rank 0 says no for so long: it means it
constexpr auto kHearOut = milliseconds(2000);  // rank 0 waits so long for all to hear why not
constexpr const char* kWorldKey = "meeting/world";
constexpr const char* kNoToken =
    "no TANDEM_TOKEN: whoever knows this job's address and port could join it; set it to the "
    "same random text on all hosts";

std::string card_key(int rank) {
  return format("meeting/card/{}", rank);
}

std::string ranks_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  const std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost)));
  return format("{}{}", join(some, ", "),
                names.size() > kMost ? format(" and {} more", names.size() - kMost) : "");
}

void pause(const std::atomic<bool>* stop) {
  if (stop != nullptr && *stop) {
    throw Interrupted("stopped while the workers were meeting; nothing was done");
  }
  std::this_thread::sleep_for(kLook);
}

// Where strangers crowd at the door, who knows the token may be turned away with them: it calls
// again.
FileDescriptor call_until(SteadyTime deadline, const Endpoint& endpoint, std::string_view token,
                          const Caller& caller, const std::atomic<bool>* stop) {
  deadline = std::max(deadline, steady_clock::now() + kCallAgain);
  for (;;) {
    std::string problem;
    FileDescriptor fd =
        call(endpoint, token, caller, std::min(steady_clock::now() + kAttempt, deadline), problem);
    if (fd.get() >= 0) return fd;
    if (steady_clock::now() >= deadline) {
      throw EnvError(format("rank 0 at {}: {}", to_text(endpoint), problem));
    }
    pause(stop);
  }
}

}  // namespace

class MeetingMaker {
 public:
  explicit MeetingMaker(const MeetingOptions& options)
      : options_(options),
        launch_(options.launch),
        deadline_(steady_clock::now() + options.join_timeout),
        meeting_(new Meeting) {
    candidates_ = usable_interfaces(options.interfaces, options.rule, options.host.name, problem_);
    if (launch_.one_host()) problem_.clear();  // loopback is enough
    meeting_->on_refused_ = teller_of_strangers();
  }

  std::unique_ptr<Meeting> make() {
    if (launch_.pmix) pmix_ = std::make_unique<PmixClient>();
    if (launch_.rank == 0) {
      open_hub();
    } else {
      find_hub();
    }
    start_heartbeat();
    join_in();
    if (launch_.rank == 0) {
      host_the_meeting();
    } else {
      attend();
    }
    *meeting_->met_ = true;
    return std::move(meeting_);
  }

 private:
  bool is_rank_0() const { return launch_.rank == 0; }
  Store& store() { return *meeting_->store_; }

  // Rank 0 has no journal before all have met, so it says it. The others write none.
  std::function<void(const std::string&)> teller_of_strangers() const {
    return [say = options_.say, on_refused = options_.on_refused, met = meeting_->met_,
            waits = is_rank_0()](const std::string& text) {
      (on_refused && (*met || !waits) ? on_refused : say)(text);
    };
  }

  Caller caller(Purpose purpose) const { return {purpose, launch_.rank, launch_.size}; }

  milliseconds time_left() const {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
    return std::max(left, milliseconds(0));
  }

  // At most every `news`; the first after that time.
  template <class Text>
  void say_now_and_then(Text text) {
    if (steady_clock::now() < next_news_) return;
    next_news_ = steady_clock::now() + options_.news;
    options_.say(text());
  }

  void open_hub() {
    std::vector<NetworkInterface> candidates = candidates_;
    if (!problem_.empty()) {  // still to be heard by all, on whatever there is
      std::string ignored;
      candidates = usable_interfaces(options_.interfaces, {}, options_.host.name, ignored);
      if (candidates.empty()) throw UserError(problem_);
    }
    MeetingPlace place =
        open_place(launch_, candidates, options_.interfaces, options_.host.name, pmix_.get());
    refuse_if_guessable(place);
    meeting_->token_ = place.token.bytes;
    meeting_->store_service_ = std::make_unique<StoreService>();
    meeting_->heartbeat_service_ =
        std::make_unique<HeartbeatService>(options_.limits, options_.on_event);
    meeting_->journal_home_ = std::make_unique<JournalHome>();
    HubOptions hub;
    hub.token = place.token.bytes;
    hub.size = launch_.size;
    hub.say = meeting_->on_refused_;
    meeting_->hub_ = std::make_unique<Hub>(
        std::move(place.sockets), hub,
        std::map<Purpose, HubService*>{{Purpose::store, meeting_->store_service_.get()},
                                       {Purpose::heartbeat, meeting_->heartbeat_service_.get()},
                                       {Purpose::journal, meeting_->journal_home_.get()}});
    Hub* own = meeting_->hub_.get();
    dial_ = [own, this_rank = caller(Purpose::store)](Purpose purpose) {
      return own->connect_locally({purpose, this_rank.rank, this_rank.size});
    };
    meeting_->store_ = network_store([dial = dial_] { return dial(Purpose::store); });
  }

  void refuse_if_guessable(const MeetingPlace& place) {
    guessable_ = place.token.guessable;
    if (!guessable_) return;
    const bool on_loopback = std::ranges::all_of(
        place.endpoints, [](const Endpoint& endpoint) { return is_loopback(endpoint.address); });
    if (on_loopback && (launch_.one_host() || is_loopback(launch_.meeting))) return;
    throw UserError(kNoToken);
  }

  void find_hub() {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(options_.join_timeout);
    const MeetingPlace place = find_place(launch_, pmix_.get(), wait);
    refuse_if_guessable(place);
    meeting_->token_ = place.token.bytes;
    const Endpoint endpoint = try_until_reached(place);
    dial_ = [endpoint, token = place.token.bytes, this_rank = caller(Purpose::store),
             deadline = deadline_, stop = options_.stop, met = meeting_->met_](Purpose purpose) {
      return call_until(deadline, endpoint, token, {purpose, this_rank.rank, this_rank.size},
                        *met ? nullptr : stop);
    };
    meeting_->store_ = network_store([dial = dial_] { return dial(Purpose::store); });
    meeting_->journal_ = dial_(Purpose::journal);
  }

  Endpoint try_until_reached(const MeetingPlace& place) {
    next_news_ = steady_clock::now() + options_.news;
    std::string problem = "not tried";
    std::optional<steady_clock::time_point> refused_since;
    do {
      bool refused = false;
      for (const Endpoint& endpoint : place.endpoints) {
        const auto deadline = std::min(steady_clock::now() + kAttempt, deadline_ + kLook);
        std::string why;
        const FileDescriptor fd = connect_to(endpoint, deadline, why);
        if (fd.get() >= 0) {
          why = introduce(fd.get(), place.token.bytes, caller(Purpose::store), deadline);
          if (why.empty()) return endpoint;
          refused = steady_clock::now() < deadline;  // not merely slow to answer
        }
        problem = format("{}: {}", to_text(endpoint), why);
      }
      if (!refused) refused_since = {};
      if (refused && !refused_since) refused_since = steady_clock::now();
      if (refused && steady_clock::now() - *refused_since > kRefused) {
        throw UserError(format("rank {} on {} was refused by rank 0 at {}", launch_.rank,
                               options_.host.name, problem));
      }
      say_now_and_then([&] {
        return format("rank {} of {} waits for rank 0 at {}", launch_.rank, options_.host.name,
                      problem);
      });
      pause(options_.stop);
    } while (steady_clock::now() < deadline_);
    throw EnvError(
        format("rank {} on {} did not reach rank 0 within {} s ({}); is it started, and "
               "are address and port open between the hosts?",
               launch_.rank, options_.host.name, options_.join_timeout.count() / 1000, problem));
  }

  void start_heartbeat() {
    HeartbeatOptions heartbeat;
    heartbeat.rank = launch_.rank;
    heartbeat.name = format("{} rank {} (pid {})", options_.host.name, launch_.rank, ::getpid());
    heartbeat.limits = options_.limits;
    heartbeat.on_lost = options_.on_lost;
    heartbeat.on_cut_off = options_.on_cut_off;
    heartbeat.stop = options_.stop;
    meeting_->heartbeat_ = std::make_unique<Heartbeat>(dial_(Purpose::heartbeat), heartbeat);
    meeting_->heartbeat_->at(0, "meeting");
  }

  void join_in() {
    if (store().add(format("meeting/joined/{}", launch_.rank), 1) > 1) {
      const std::string first = store().get(card_key(launch_.rank), milliseconds(5000));
      const WorkerCard other = worker_card(first);
      meeting_->heartbeat_->finish();
      throw UserError(
          format("two workers call themselves rank {}: process {} on {} came first, "
                 "then process {} on {}; give each its own rank",
                 launch_.rank, other.pid, other.host, ::getpid(), options_.host.name));
    }
    const WorkerCard card{options_.host.name, options_.host.key, ::getpid(), problem_};
    store().set(card_key(launch_.rank), to_text(card));
    store().add("meeting/count", 1);
  }

  // --- rank 0 -----------------------------------------------------------------------------------

  void host_the_meeting() {
    const std::vector<WorkerCard> cards = wait_for_all();
    std::vector<std::string> problems;
    for (const WorkerCard& card : cards) {
      const bool known = std::ranges::find(problems, card.problem) != problems.end();
      if (!card.problem.empty() && !known) problems.push_back(card.problem);
    }
    World world = world_of(cards);
    // Containers of one network: loopback brought them together, the run would leave it.
    if (world.hosts() > 1 && guessable_) refuse(ExitCode::user, kNoToken);
    if (world.hosts() > 1 && !problems.empty()) {
      refuse(ExitCode::user, format("{}", join(problems, "; ")));
    }
    if (world.hosts() == 1) {
      for (Worker& worker : world.workers) worker.address = "127.0.0.1";
      publish(world, std::vector<NetworkInterface>{{"lo", "127.0.0.1", true, true, 0}},
              "loopback: all workers are on one host");
      meeting_->hub_->keep_reached();
      return;
    }
    choose_between_hosts(world);
  }

  std::vector<WorkerCard> wait_for_all() {
    next_news_ = steady_clock::now() + options_.news;
    std::vector<WorkerCard> cards;
    while (store().add("meeting/count", 0) < launch_.size) {
      if (time_left().count() == 0) {
        refuse(ExitCode::environment,
               format("{} did not join within {} s; start them, or see in their logs why they "
                      "could not",
                      missing_text(), options_.join_timeout.count() / 1000));
      }
      say_now_and_then([&] { return "waiting for " + missing_text(); });
      pause(options_.stop);
    }
    for (int rank = 0; rank < launch_.size; ++rank) {
      cards.push_back(worker_card(store().get(card_key(rank), milliseconds(1000))));
    }
    return cards;
  }

  std::string missing_text() {
    std::vector<std::string> missing;
    for (int rank = 0; rank < launch_.size; ++rank) {
      if (store().has(card_key(rank))) continue;
      const std::string host = pmix_ ? pmix_->host_of(rank) : "";
      missing.push_back(host.empty() ? format("rank {}", rank)
                                     : format("rank {} ({})", rank, host));
    }
    return format("{} of {} workers: {}", missing.size(), launch_.size, ranks_text(missing));
  }

  void choose_between_hosts(World& world) {
    // The leaders' part begins when they know the hosts.
    store().set("meeting/hosts", to_text(world));
    const auto hub = probe(world, 0);
    const AddressChoice choice =
        gather_probes(world.hosts(), store(), time_left() + milliseconds(10'000));
    if (!choice.problem.empty()) refuse(ExitCode::environment, choice.problem);
    for (Worker& worker : world.workers) {
      worker.address = choice.by_host[static_cast<std::size_t>(worker.host_index)].address;
    }
    publish(world, choice.by_host, choice.reason);
    keep_listening_for(world);
  }

  // The hub goes on listening where the run's traffic is. Where MASTER_ADDR says how to call it, it
  // is called there only; that may be a name that means other addresses to other hosts.
  void keep_listening_for(const World& world) {
    if (launch_.meeting.empty()) {
      meeting_->hub_->keep_only(world.workers.front().address);
    } else {
      meeting_->hub_->keep_reached();
    }
  }

  void publish(const World& world, const std::vector<NetworkInterface>& by_host,
               const std::string& reason) {
    Json interfaces = Json::array();
    for (const NetworkInterface& interface : by_host) interfaces.push(interface.name);
    Json json = Json::parse(to_text(world), "the world");
    json.set("interfaces", std::move(interfaces)).set("reason", reason);
    store().set(kWorldKey, json.dump());
    take_world(json);
  }

  [[noreturn]] void refuse(ExitCode code, const std::string& why) {
    store().set(kWorldKey,
                Json::object().set("error", why).set("code", static_cast<int>(code)).dump());
    const std::int64_t others = store().add("meeting/count", 0) - 1;
    const auto deadline = steady_clock::now() + kHearOut;
    while (store().add("meeting/heard", 0) < others && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kLook);
    }
    meeting_->heartbeat_->fail(why);
    throw_as(code, why);
  }

  // --- the others -------------------------------------------------------------------------------

  void attend() {
    std::unique_ptr<Hub> hub;
    const auto patience = deadline_ + std::chrono::seconds(30);  // rank 0 speaks last
    while (!store().has(kWorldKey)) {
      if (!hub && store().has("meeting/hosts")) {
        const std::string text = store().get("meeting/hosts", milliseconds(1000));
        const World world = world_from(Json::parse(text, "the hosts"), launch_.rank);
        if (world.is_leader()) hub = probe(world, world.self().host_index);
      }
      if (steady_clock::now() > patience) {
        throw EnvError("rank 0 is there but does not say who takes part; its log says more");
      }
      pause(options_.stop);
    }
    const Json json = Json::parse(store().get(kWorldKey, milliseconds(1000)), "the world");
    if (const Json* error = json.find("error")) {
      meeting_->heartbeat_->finish();
      store().add("meeting/heard", 1);
      throw_as(static_cast<ExitCode>(json.at("code").as_int()), error->as_string());
    }
    take_world(json);
  }

  [[noreturn]] static void throw_as(ExitCode code, const std::string& why) {
    if (code == ExitCode::user) throw UserError(why);
    throw EnvError(why);
  }

  std::unique_ptr<Hub> probe(const World& world, int host) {
    ProbeTask task;
    task.token = meeting_->token_;
    task.host = host;
    task.hosts = world.hosts();
    task.host_name = world.workers[static_cast<std::size_t>(world.leader_of(host))].host;
    task.candidates = candidates_;
    task.on_refused = meeting_->on_refused_;
    return probe_hosts(task, store());
  }

  void take_world(const Json& json) {
    meeting_->world_ = world_from(json, launch_.rank);
    const auto host = static_cast<std::size_t>(meeting_->world_.self().host_index);
    if (!meeting_->world_.is_leader()) meeting_->journal_ = {};
    meeting_->interface_ = json.at("interfaces").items().at(host).as_string();
    meeting_->reason_ = json.at("reason").as_string();
    meeting_->heartbeat_->at(0, "start");
  }

  const MeetingOptions& options_;
  const LaunchInfo& launch_;
  const SteadyTime deadline_;
  SteadyTime next_news_{};
  std::vector<NetworkInterface> candidates_;
  std::string problem_;
  bool guessable_ = false;  // the job token
  std::unique_ptr<PmixClient> pmix_;
  std::function<FileDescriptor(Purpose)> dial_;
  std::unique_ptr<Meeting> meeting_;
};

MeetingOptions meeting_options(const ClusterConfig& config, const EnvMap& env) {
  const auto in_milliseconds = [](double seconds) {
    return milliseconds(static_cast<std::int64_t>(seconds * 1000));
  };
  MeetingOptions options;
  options.launch = detect_launch(env);
  options.host = this_host();
  options.interfaces = list_interfaces();
  options.rule = interface_rule(config.interface, env);
  options.join_timeout = in_milliseconds(config.join_timeout);
  options.limits.timeout = in_milliseconds(config.timeout);
  options.limits.stuck_after = in_milliseconds(config.stuck_timeout);
  return options;
}

void Meeting::be_patient(std::chrono::milliseconds patience) {
  heartbeat_->be_patient(patience);
  if (heartbeat_service_) heartbeat_service_->be_patient(patience);
}

std::unique_ptr<JournalCopy> Meeting::copy_journal(const fs::path& file) {
  check(journal_.get() >= 0, "a copy of the journal is kept by a leader of another host, once");
  return std::make_unique<JournalCopy>(std::move(journal_), file);
}

std::unique_ptr<Meeting> meet(const MeetingOptions& options) {
  check(options.launch.size > 1, "one worker meets nobody");
  return MeetingMaker(options).make();
}

}  // namespace tandem
