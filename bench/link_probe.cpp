// One end of a link probe, for bench/link_probe.py to run in two network namespaces:
//   bench_link_probe answer ADDRESS                    prints port and secrets, then answers
//   bench_link_probe open OWN ADDRESS PORT SECRET SECRET   prints what it measured as JSON
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "cluster/link_probe.h"
#include "cluster/link_probe_socket.h"

namespace tandem {
namespace {

constexpr double kLimitSeconds = 20;
const ProbeTiming kTiming = ProbeTiming{}.scaled_to(1.4);  // as two hosts have it

void print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void answer(const std::string& address) {
  const ProbeListener listener(address);
  const ProbeSecrets secrets = new_probe_secrets();
  print(format("{} {} {}", listener.port(), secrets.opening, secrets.answering));
  const FileDescriptor socket = listener.accept(secrets, kLimitSeconds, "the other end");
  probe_link(socket.get(), ProbeSide::answering, kTiming, "the other end");
}

void open(std::span<const std::string> a) {
  const auto start = std::chrono::steady_clock::now();
  const FileDescriptor socket =
      connect_probe(a[0], a[1], std::stoi(a[2]), {a[3], a[4]}, kLimitSeconds, "the other end");
  const LinkMeasure link = probe_link(socket.get(), ProbeSide::opening, kTiming, "the other end");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  print(link_json(link)
            .set("shares_directions", shares_directions(link))
            .set("is_lopsided", is_lopsided(link))
            .set("seconds", took.count())
            .dump());
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 2 && arguments[0] == "answer") {
      tandem::answer(arguments[1]);
    } else if (arguments.size() == 6 && arguments[0] == "open") {
      tandem::open(std::span(arguments).subspan(1));
    } else {
      return 2;
    }
  } catch (const std::exception& error) {
    std::fputs(tandem::format("bench_link_probe: {}\n", error.what()).c_str(), stderr);
    return 3;
  }
  return 0;
}
