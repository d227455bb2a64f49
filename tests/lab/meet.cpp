// tandem_meet: a worker that meets the others, prints the world it sees, shares a value with each
// and then lives for a while, as a training does as far as the control channel is concerned.
//
//   tandem_meet [key=value ...]     seconds=0   how long to live after the meeting
//                                   join_timeout=120  timeout=7  interface=eth0   as cluster.*
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/signals.h"
#include "cluster/rendezvous.h"

namespace tandem {
namespace {

using Arguments = std::map<std::string, std::string>;

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw UserError(format("{}: key=value is expected", text));
    arguments[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return arguments;
}

double number(const Arguments& arguments, const std::string& key, double value) {
  const auto at = arguments.find(key);
  return at == arguments.end() ? value : std::strtod(at->second.c_str(), nullptr);
}

void print(std::FILE* to, const std::string& line) {
  std::fputs((line + "\n").c_str(), to);
  std::fflush(to);
}

void print_world(Meeting& meeting) {
  const World& world = meeting.world();
  for (int rank = 0; rank < world.size(); ++rank) {
    const Worker& worker = world.workers[static_cast<std::size_t>(rank)];
    print(stdout,
          format("world seen by {}: {} at {}, worker {} of host {}", world.rank,
                 world.name_of(rank), worker.address, worker.local_rank, worker.host_index));
  }
  print(stdout, format("network of {}: {}; {}", world.rank, meeting.interface(), meeting.reason()));
}

void share_values(Meeting& meeting) {
  const World& world = meeting.world();
  meeting.store().set(format("greeting/{}", world.rank), format("from {}", world.rank));
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::string text =
        meeting.store().get(format("greeting/{}", rank), std::chrono::seconds(20));
    check(text == format("from {}", rank), "another value than was set");
  }
  meeting.store().add("arrived", 1);
}

void live(Meeting& meeting, double seconds) {
  constexpr auto kStep = std::chrono::milliseconds(50);
  const auto steps = static_cast<std::int64_t>(seconds * 1000) / kStep.count();
  for (std::int64_t step = 1; step <= steps; ++step) {
    meeting.heartbeat().at(step, "exchange");
    meeting.heartbeat().worked(0.05);
    std::this_thread::sleep_for(kStep);
  }
}

ExitCode run(const Arguments& arguments) {
  const StopSignals signals;
  ClusterConfig config;
  config.join_timeout = number(arguments, "join_timeout", config.join_timeout);
  config.timeout = number(arguments, "timeout", config.timeout);
  if (arguments.contains("interface")) config.interface = arguments.at("interface");
  MeetingOptions options = meeting_options(config, process_environment());
  options.say = [](const std::string& line) { print(stderr, "tandem: " + line); };
  options.on_event = options.say;
  options.stop = &signals.flag();
  print(stdout, describe(options.launch, options.host.name));
  if (options.launch.size == 1) return ExitCode::ok;
  const auto meeting = meet(options);
  print_world(*meeting);
  share_values(*meeting);
  print(stdout,
        format("ready: rank {} is process {}", meeting->world().rank, meeting->world().self().pid));
  live(*meeting, number(arguments, "seconds", 0));
  meeting->heartbeat().finish();
  print(stdout, format("done: rank {}", meeting->world().rank));
  return ExitCode::ok;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  try {
    return static_cast<int>(tandem::run(tandem::read_arguments(argc, argv)));
  } catch (const tandem::Error& error) {
    tandem::print(stderr, tandem::format("tandem: {}", error.what()));
    return static_cast<int>(error.code());
  }
}
