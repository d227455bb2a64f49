#include "cluster/local_spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/signals.h"
#include "cluster/job_token.h"
#include "cluster/launch.h"
#include "cluster/tcp.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kLoopback = "127.0.0.1";

// Signals of this process wait in a queue instead of interrupting it, for as long as this lives.
class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGCHLD);
    for (const int number : kStopSignals) ::sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  // 0: none came.
  int next(std::chrono::milliseconds wait) const {
    const auto nanos = std::chrono::nanoseconds(wait).count();
    const timespec most{nanos / 1'000'000'000, nanos % 1'000'000'000};
    return std::max(0, ::sigtimedwait(&set_, nullptr, &most));
  }

 private:
  sigset_t set_{}, before_{};
};

struct Child {
  int rank = 0;
  pid_t pid = -1;
  FileDescriptor output;  // none: rank 0's goes to the terminal
  bool running = true;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Between fork and exec: system calls only.
[[noreturn]] void become_worker(const char* program, char* const* arguments, char* const* env,
                                const Child& child, int listen_fd, pid_t parent,
                                const sigset_t& signals) {
  ::setpgid(0, 0);             // a terminal's Ctrl-C goes to the parent, who passes it on once
  ::signal(SIGTERM, SIG_DFL);  // the parent may have inherited it ignored; a worker must hear it
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::environment));
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  if (child.rank == 0) {
    ::fcntl(listen_fd, F_SETFD, 0);
  } else {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(child.output.get(), STDOUT_FILENO);
    ::dup2(child.output.get(), STDERR_FILENO);
  }
  ::execve(program, arguments, env);
  ::_exit(static_cast<int>(ExitCode::internal));
}

// Which start of the workers this is.
struct Attempt {
  std::vector<std::string> arguments;
  int restart = 0;
  std::string cause = {};  // of the restart
};

Child start_worker(const SpawnSetting& setting, const Attempt& attempt, int rank,
                   const ListeningSocket& meeting, const std::string& token,
                   const HeldSignals& signals) {
  Child child;
  child.rank = rank;
  if (rank > 0) child.output = FileDescriptor(::memfd_create("tandem-output", MFD_CLOEXEC));
  EnvMap env = setting.env;
  for (const auto& [name, value] : restart_env(attempt.restart, attempt.cause)) env[name] = value;
  for (const auto& [name, value] : local_worker_env(rank, setting.workers, kLoopback,
                                                    meeting.at.port, meeting.fd.get(), token)) {
    env[name] = value;
  }
  std::vector<std::string> arguments = {"tandem"}, variables;
  arguments.insert(arguments.end(), attempt.arguments.begin(), attempt.arguments.end());
  for (const auto& [name, value] : env) variables.push_back(name + "=" + value);
  const auto argument_pointers = pointers(arguments), variable_pointers = pointers(variables);
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid == 0) {
    become_worker(setting.program.c_str(), argument_pointers.data(), variable_pointers.data(),
                  child, meeting.fd.get(), parent, signals.before());
  }
  if (child.pid < 0) {
    throw EnvError(
        format("cannot start worker {} of {}: {}", rank, setting.workers, errno_text(errno)));
  }
  return child;
}

// The last lines of what a worker printed.
std::string last_words(const Child& child) {
  if (child.output.get() < 0) return {};
  std::string text(4096, '\0');
  const off_t size = ::lseek(child.output.get(), 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
  const ssize_t got = ::pread(child.output.get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// The workers as a whole. Whatever way this is left, none of them stays behind.
class Crowd {
 public:
  ~Crowd() {
    signal_all(SIGKILL);
    for (Child& child : children_) {
      if (child.running) ::waitpid(child.pid, nullptr, 0);
    }
  }
  void add(Child child) { children_.push_back(std::move(child)); }
  bool running() const { return std::ranges::any_of(children_, &Child::running); }
  void signal_all(int number) const {
    for (const Child& child : children_) {
      if (child.running) ::kill(child.pid, number);
    }
  }
  // Takes note of those that have ended.
  void reap(bool stopped_by_us) {
    for (Child& child : children_) {
      int status = 0;
      if (!child.running || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
      child.running = false;
      WorkerEnd end;
      end.rank = child.rank;
      end.pid = child.pid;
      end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      end.stopped_by_us = stopped_by_us && end.signal == SIGKILL;
      end.words = last_words(child);
      ends_.push_back(std::move(end));
    }
  }
  bool one_failed() const {
    return std::ranges::any_of(ends_, [](const WorkerEnd& end) {
      return end.signal != 0 || (end.exit_code != static_cast<int>(ExitCode::ok) &&
                                 end.exit_code != static_cast<int>(ExitCode::interrupted));
    });
  }
  // Nobody is left but those whom a signal holds (SIGSTOP): they do not end by themselves.
  bool only_frozen() const {
    return std::ranges::all_of(
        children_, [](const Child& child) { return !child.running || is_frozen(child.pid); });
  }
  const std::vector<WorkerEnd>& ends() const { return ends_; }

 private:
  static bool is_frozen(pid_t pid) {
    siginfo_t state{};
    const auto id = static_cast<id_t>(pid);
    return ::waitid(P_PID, id, &state, WSTOPPED | WNOHANG | WNOWAIT) == 0 && state.si_pid == pid;
  }

  std::vector<Child> children_;
  std::vector<WorkerEnd> ends_;
};

struct AttemptEnd {
  SpawnVerdict verdict;
  bool stopped = false;  // somebody asked for it
  bool as_asked = false;
};

bool asks_to_stop(int signal) {
  return std::ranges::find(kStopSignals, signal) != kStopSignals.end();
}

AttemptEnd run_once(const SpawnSetting& setting, const Attempt& attempt,
                    const HeldSignals& signals) {
  std::string problem;
  auto meeting = listen_at({kLoopback, 0}, problem);
  if (!meeting) throw EnvError(format("cannot listen on {}: {}", kLoopback, problem));
  const std::string token = to_hex(random_token().bytes);
  Crowd crowd;
  for (int rank = 0; rank < setting.workers; ++rank) {
    crowd.add(start_worker(setting, attempt, rank, *meeting, token, signals));
  }
  meeting->fd = FileDescriptor();

  AttemptEnd end;
  std::optional<Clock::time_point> deadline;
  bool killed = false;
  while (crowd.running()) {
    const int number = signals.next(std::chrono::milliseconds(100));
    if (asks_to_stop(number)) {
      crowd.signal_all(number);
      end.stopped = true;
    }
    crowd.reap(killed);
    if (crowd.one_failed() && !deadline) deadline = Clock::now() + setting.grace;
    if (deadline && !killed && (Clock::now() > *deadline || crowd.only_frozen())) {
      crowd.signal_all(SIGKILL);
      killed = true;
    }
  }
  end.verdict = verdict_of(crowd.ends());
  end.as_asked = end.stopped && all_ended_as_asked(crowd.ends());
  return end;
}

void wait_before_restart(const HeldSignals& signals, std::chrono::milliseconds pause) {
  const auto until = Clock::now() + pause;
  while (Clock::now() < until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (asks_to_stop(signals.next(left))) {
      throw Interrupted(
          "stopped between two starts of the workers; run the same command to go on from the "
          "newest checkpoint");
    }
  }
}

std::string restart_text(const SpawnVerdict& verdict, std::chrono::milliseconds pause,
                         std::int64_t restart, std::int64_t most) {
  const std::string told = verdict.message.empty() ? "" : verdict.cause + "; ";
  return format("{}the workers start again in {} s, restart {} of {} without a new checkpoint",
                told, static_cast<double>(pause.count()) / 1000, restart, most);
}

[[noreturn]] void give_up(const SpawnSetting& setting, const SpawnVerdict& verdict) {
  throw Error(ExitCode::gave_up,
              format("gave up after {} restart{} without a new checkpoint: {}; mend that, then run "
                     "the same command again",
                     setting.restarts, setting.restarts == 1 ? "" : "s", verdict.cause));
}

}  // namespace

ExitCode run_local_workers(const SpawnSetting& setting) {
  const HeldSignals signals;
  RestartPolicy policy(setting.restarts, setting.progress());
  Attempt attempt{setting.arguments};
  for (;;) {
    const auto [verdict, stopped, as_asked] = run_once(setting, attempt, signals);
    if (verdict.code == ExitCode::ok) return verdict.code;
    if (as_asked && verdict.killed) {
      throw Interrupted("stopped before all workers were there; run the same command to go on");
    }
    const RestartChoice choice =
        policy.after({verdict.code, verdict.killed, stopped, setting.progress()});
    if (choice.gave_up) give_up(setting, verdict);
    if (!choice.pause) {
      if (!verdict.message.empty()) throw Error(verdict.code, verdict.message);
      return verdict.code;
    }
    setting.say(restart_text(verdict, *choice.pause, policy.restarts(), setting.restarts));
    wait_before_restart(signals, *choice.pause);
    attempt.cause = verdict.cause;
    attempt.restart += 1;
    if (policy.progressed() && !setting.arguments_again.empty()) {
      attempt.arguments = setting.arguments_again;
    }
  }
}

}  // namespace tandem
