#include "cluster/link_probe.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = 1 << 16;
constexpr std::size_t kPingBytes = 64, kResultBytes = 512;
constexpr char kData = 0, kEnd = 1;  // streams are zeros and then a one
// What a side may have under way: what the link carries in some milliseconds beside its round trip.
// That keeps it full on a busy machine, but fills no queue: packets that a queue drops are sent
// again a fifth of a second later, and a link of a few Mbps would be read by its stalls.
constexpr double kUnderWaySeconds = 0.022;
constexpr double kTooLong = 4;         // times that
constexpr double kGrows = 1.5;         // times as much
constexpr double kGrowsAfter = 0.004;  // s: credit that a link saved up is gone by then
constexpr double kPieces = 8;          // of what may be under way: lumps would arrive as lumps
constexpr double kFewestAtOnce = 1 << 14, kMostAtOnce = 1 << 23;  // bytes; above: as TCP likes

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string with_number(char kind, double number) {
  std::string frame(1 + sizeof number, kind);
  std::memcpy(frame.data() + 1, &number, sizeof number);
  return frame;
}

double number_in(const std::string& frame) {
  double number = 0;
  std::memcpy(&number, frame.data() + 1, sizeof number);
  return number;
}

// How much may be under way: half as much again when that much left in less than the wanted time.
class SendPace {
 public:
  explicit SendPace(double round_trip_seconds) : round_trip_(round_trip_seconds) {}

  // A new phase. With both directions in use much of what is under way are acknowledgements
  // that wait behind the other side's data.
  void begin(bool both) {
    if (was_both_ && !both) most_ = std::max(kFewestAtOnce, most_ / kGrows);
    was_both_ = both;
    wanted_ = 1.5 * round_trip_ + (both ? 1.5 : 1) * kUnderWaySeconds;
    since_ = -1;
  }

  // left: bytes that the other side has, since the first one. Returns how many may follow at once.
  double room(double at, double left, double under_way) {
    if (most_ >= kMostAtOnce) return kBlock;
    if (since_ < 0) restart(at, left);
    const double took = at - since_, gone = left - left_before_;
    if (took >= kGrowsAfter && gone >= most_) {
      const double seconds = took * most_ / gone;
      if (seconds < wanted_) most_ *= kGrows;
      if (seconds > kTooLong * wanted_) most_ = std::max(kFewestAtOnce, most_ / kGrows);
      restart(at, left);
    }
    return most_ - under_way >= most_ / kPieces ? most_ / kPieces : 0;
  }

 private:
  void restart(double at, double left) {
    since_ = at;
    left_before_ = left;
  }
  double round_trip_, wanted_ = kUnderWaySeconds, most_ = kFewestAtOnce;
  double since_ = -1, left_before_ = 0;
  bool was_both_ = false;
};

class ProbeConversation {
 public:
  ProbeConversation(int socket, const ProbeTiming& timing, const std::string& peer)
      : socket_(socket), timing_(timing), peer_(peer), start_(Clock::now()) {
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) | O_NONBLOCK);
  }

  void ping(LinkMeasure& link) {
    std::vector<double> round_trips;
    const Clock::time_point begin = Clock::now();
    while (static_cast<int>(round_trips.size()) < timing_.pings &&
           (round_trips.empty() || since(begin) < timing_.ping_seconds)) {
      const double sent_at = wall_seconds();
      const Clock::time_point sent = Clock::now();
      send_frame(std::string(1, kData), kPingBytes);
      const std::string answer = receive_frame(kPingBytes);
      const double round_trip = since(sent);
      if (round_trips.empty() || round_trip < *std::ranges::min_element(round_trips)) {
        link.clock_ahead_seconds = clock_ahead(sent_at, number_in(answer), round_trip);
      }
      round_trips.push_back(round_trip);
    }
    link.rtt_min_seconds = *std::ranges::min_element(round_trips);
    link.rtt_median_seconds = median_of(round_trips);
    send_frame(with_number(kEnd, link.rtt_median_seconds), kPingBytes);
  }

  // Returns the round trip that the other side found.
  double answer_pings() {
    for (;;) {
      const std::string ping = receive_frame(kPingBytes);
      if (ping.front() == kEnd) return number_in(ping);
      send_frame(with_number(kData, wall_seconds()), kPingBytes);
    }
  }

  // Sends for so many seconds, if at all, while it receives until the other side ends, if it sends.
  // Returns what arrived a second.
  double stream(bool sends, bool receives, double seconds, double skip_seconds) {
    ArrivalWindows arrived(timing_.window_seconds);
    const Clock::time_point begin = Clock::now();
    bool full = false;  // enough is under way
    if (sends) pace_.begin(receives);
    while (sends || receives) {
      if (receives && take(arrived, since(begin))) receives = false;
      if (sends && since(begin) >= seconds) {
        sends = send_some(std::string_view(&kEnd, 1)) == 0;
      } else if (sends) {
        full = !send_what_may(since(begin));
      }
      if (sends || receives) wait(receives, sends, full);
    }
    return arrived.bytes_per_second(skip_seconds);
  }

  void has_round_trip(double seconds) { pace_ = SendPace(seconds); }

  // Both sides are past everything before: a lost packet of one phase holds up what follows it, and
  // the next phase would seem to arrive at once.
  void meet() {
    send_frame({}, kPingBytes);
    receive_frame(kPingBytes);
  }

  // Each side tells what it received; both end with the whole.
  Json swap_results(const Json& own) {
    send_frame(own.dump() + "\n", kResultBytes);
    const std::string frame = receive_frame(kResultBytes);
    return Json::parse(std::string_view(frame).substr(0, frame.find('\n')), "the probe's result");
  }

  std::int64_t retransmits() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return info.tcpi_total_retrans;
  }

 private:
  static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  // False: as much as may be is under way.
  bool send_what_may(double at) {
    int under_way = 0;
    ::ioctl(socket_, SIOCOUTQ, &under_way);
    const double room = pace_.room(at, sent_ - under_way, under_way);
    if (room < 1) return false;
    const auto most = std::min(zeros_.size(), static_cast<std::size_t>(room));
    sent_ += static_cast<double>(send_some({zeros_.data(), most}));
    return true;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw EnvError(format("the probe of the link to {} failed: {}", peer_, why));
  }

  void wait(bool to_read, bool to_write, bool full = false) const {
    const double left = timing_.limit_seconds - since(start_);
    if (left <= 0) {
      fail(format("nothing moves after {:.0f} s; check cable and firewall", timing_.limit_seconds));
    }
    const bool for_room = to_write && !full;
    pollfd ready{socket_, static_cast<short>((to_read ? POLLIN : 0) | (for_room ? POLLOUT : 0)), 0};
    // Short enough that a phase of sending ends in time although nothing can be sent; nobody tells
    // that less is under way.
    const int got = ::poll(&ready, 1, full ? 1 : static_cast<int>(std::min(left, 0.01) * 1e3) + 1);
    if (got < 0 && errno != EINTR) fail(errno_text(errno));
  }

  std::size_t send_some(std::string_view bytes) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EINTR) return 0;
    fail(errno_text(errno));
  }

  // Into buffer_; false when nothing is there yet.
  bool receive_some() {
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (got == 0) fail("the other side closed the connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) fail(errno_text(errno));
    if (got <= 0) return false;
    waiting_ = std::span(buffer_).first(static_cast<std::size_t>(got));
    return true;
  }

  // Counts what is there; true when the end of the stream was in it. What follows the end belongs
  // to the next phase and stays.
  bool take(ArrivalWindows& arrived, double at) {
    if (waiting_.empty() && !receive_some()) return false;
    const auto* end = static_cast<const char*>(std::memchr(waiting_.data(), kEnd, waiting_.size()));
    const std::size_t used =
        end ? static_cast<std::size_t>(end - waiting_.data()) + 1 : waiting_.size();
    arrived.add(at, static_cast<std::int64_t>(used));
    waiting_ = waiting_.subspan(used);
    if (end) arrived.end(at);
    return end != nullptr;
  }

  void send_frame(std::string frame, std::size_t bytes) {
    check(frame.size() <= bytes, "a frame of the probe is too long");
    frame.resize(bytes, ' ');
    for (std::size_t sent = 0; sent < bytes;) {
      const std::size_t more = send_some(std::string_view(frame).substr(sent));
      if (more == 0) wait(false, true);
      sent += more;
    }
  }

  std::string receive_frame(std::size_t bytes) {
    std::string frame;
    while (frame.size() < bytes) {
      if (waiting_.empty() && !receive_some()) {
        wait(true, false);
        continue;
      }
      const std::size_t used = std::min(waiting_.size(), bytes - frame.size());
      frame.append(waiting_.data(), used);
      waiting_ = waiting_.subspan(used);
    }
    return frame;
  }

  int socket_;
  const ProbeTiming& timing_;
  const std::string& peer_;
  Clock::time_point start_;
  SendPace pace_{0};
  double sent_ = 0;  // bytes of streams
  std::vector<char> zeros_ = std::vector<char>(kBlock, kData);
  std::vector<char> buffer_ = std::vector<char>(4 * kBlock);
  std::span<const char> waiting_;  // received, not used yet
};

}  // namespace

ProbeTiming ProbeTiming::scaled_to(double seconds) const {
  const double factor = seconds / total_seconds();
  ProbeTiming t = *this;
  t.ping_seconds *= factor;
  t.both_seconds *= factor;
  t.alone_seconds *= factor;
  t.skip_seconds = std::min(skip_seconds, 0.3 * t.both_seconds);
  return t;
}

LinkMeasure probe_link(int socket, ProbeSide side, const ProbeTiming& timing,
                       const std::string& peer) {
  const bool opening = side == ProbeSide::opening;
  ProbeConversation talk(socket, timing, peer);
  LinkMeasure link;
  if (opening) {
    talk.ping(link);
  } else {
    link.rtt_median_seconds = talk.answer_pings();
  }
  talk.has_round_trip(link.rtt_median_seconds);
  const double find_speed = std::max(timing.skip_seconds, 10 * link.rtt_median_seconds);
  const double skip = std::min(find_speed, 0.5 * timing.both_seconds);
  const double warm_skip = 0.4 * timing.alone_seconds;
  const double in_both = talk.stream(true, true, timing.both_seconds, skip);
  talk.meet();
  const double in_first = talk.stream(!opening, opening, timing.alone_seconds, warm_skip);
  talk.meet();
  const double in_second = talk.stream(opening, !opening, timing.alone_seconds, warm_skip);
  (opening ? link.back_both : link.there_both) = in_both;
  (opening ? link.back_alone : link.there_alone) = opening ? in_first : in_second;
  link.retransmits = talk.retransmits();

  const LinkMeasure other = link_from_json(talk.swap_results(link_json(link)));
  LinkMeasure whole = opening ? link : other;
  const LinkMeasure& answered = opening ? other : link;
  whole.there_both = answered.there_both;
  whole.there_alone = answered.there_alone;
  whole.retransmits += answered.retransmits;
  return whole;
}

}  // namespace tandem
