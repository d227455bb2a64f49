#include "cluster/launch.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/format.h"
#include "cluster/slurm_nodes.h"

namespace tandem {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();

// Variables read with the errors that belong to them.
class Variables {
 public:
  explicit Variables(const EnvMap& env) : env_(env) {}

  bool has(std::string_view name) const { return env_.contains(name); }

  std::string text(std::string_view name) const {
    const auto at = env_.find(name);
    return at == env_.end() ? "" : at->second;
  }

  std::optional<int> number(std::string_view name, int least, int most = kMost) const {
    const auto at = env_.find(name);
    if (at == env_.end()) return std::nullopt;
    const std::string& value = at->second;
    int result = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (failed == std::errc{} && end == value.data() + value.size() && result >= least &&
        result <= most) {
      return result;
    }
    throw UserError(format("{}=\"{}\" in the environment must be a whole number from {} on{}", name,
                           value, least, most == kMost ? "" : format(" and at most {}", most)));
  }

  int needed(std::string_view name, int least, std::string_view because, int most = kMost) const {
    if (const auto value = number(name, least, most)) return *value;
    throw UserError(format("{} is set but {} is not; set both or neither", because, name));
  }

  // A second variable for the same thing may only repeat it.
  void must_agree(std::string_view name, int value, std::string_view from) const {
    const auto other = number(name, 0);
    if (!other || *other == value) return;
    throw UserError(format("{}={} contradicts {}={}; remove {} from the environment", name, *other,
                           from, value, name));
  }

 private:
  const EnvMap& env_;
};

struct Names {
  std::string_view rank, size, local_rank, local_size;
};

// The four numbers that every launcher has under names of its own.
LaunchInfo read_numbers(const Variables& env, Launcher by, const Names& names) {
  LaunchInfo info;
  info.by = by;
  const bool has_rank = env.has(names.rank);
  info.rank = env.needed(names.rank, 0, names.size);
  info.size = env.needed(names.size, 1, has_rank ? names.rank : names.size);
  if (info.rank >= info.size) {
    throw UserError(format("{}={} but {}={}: ranks go from 0 to {}", names.rank, info.rank,
                           names.size, info.size, info.size - 1));
  }
  info.local_size = env.number(names.local_size, 1).value_or(0);
  info.local_rank = env.number(names.local_rank, 0).value_or(0);
  if (info.local_size > info.size) {
    throw UserError(format("{}={} is more than {}={}", names.local_size, info.local_size,
                           names.size, info.size));
  }
  if (info.local_size > 0 && info.local_rank >= info.local_size) {
    throw UserError(format("{}={} but {}={}: they go from 0 to {}", names.local_rank,
                           info.local_rank, names.local_size, info.local_size,
                           info.local_size - 1));
  }
  return info;
}

void take_master(const Variables& env, LaunchInfo& info) {
  info.meeting = env.text("MASTER_ADDR");
  if (info.meeting == "localhost") info.meeting = "127.0.0.1";
  info.port = env.number("MASTER_PORT", 1, 65535).value_or(0);
}

void need_master(const Variables& env, const LaunchInfo& info) {
  for (const std::string_view name : {"MASTER_ADDR", "MASTER_PORT"}) {
    if (!env.text(name).empty()) continue;
    throw UserError(
        format("WORLD_SIZE={} but {} is not set; give every worker the address and a "
               "free port of rank 0's host",
               info.size, name));
  }
}

LaunchInfo from_local(const Variables& env) {
  LaunchInfo info = read_numbers(
      env, Launcher::local, {"TANDEM_RANK", "TANDEM_WORKERS", "TANDEM_RANK", "TANDEM_WORKERS"});
  info.meeting = env.text("TANDEM_MEETING");
  info.port = env.needed("TANDEM_MEETING_PORT", 1, "TANDEM_RANK", 65535);
  info.listen_fd = info.rank == 0 ? env.number("TANDEM_LISTEN_FD", 0).value_or(-1) : -1;
  info.restart = env.number("TANDEM_RESTART", 0).value_or(0);
  info.cause = env.text("TANDEM_RESTART_CAUSE");
  return info;
}

LaunchInfo from_mpirun(const Variables& env) {
  LaunchInfo info = read_numbers(env, Launcher::mpirun,
                                 {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  env.must_agree("RANK", info.rank, "OMPI_COMM_WORLD_RANK");
  env.must_agree("WORLD_SIZE", info.size, "OMPI_COMM_WORLD_SIZE");
  info.job = env.text("PMIX_NAMESPACE");
  info.pmix = !info.job.empty();
  if (info.pmix || info.size == 1) return info;
  take_master(env, info);
  if (info.meeting.empty() || info.port == 0) {
    throw UserError(
        "OMPI_COMM_WORLD_RANK is set but PMIX_NAMESPACE is not: this mpirun does not carry rank "
        "0's "
        "address; give it with -x MASTER_ADDR and -x MASTER_PORT");
  }
  return info;
}

LaunchInfo from_torchrun(const Variables& env) {
  LaunchInfo info = read_numbers(env, Launcher::torchrun,
                                 {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  take_master(env, info);
  if (info.size > 1) need_master(env, info);
  info.port_shared = true;  // torchrun itself listens on MASTER_PORT
  if (info.port > 0)
    info.port = info.port + 1 + kSharedPorts <= 65535 ? info.port + 1 : info.port - kSharedPorts;
  info.job = env.text("TORCHELASTIC_RUN_ID");
  info.restart = env.number("TORCHELASTIC_RESTART_COUNT", 0).value_or(0);
  return info;
}

// A step has variables of its own; the batch script around it only has the job's, which would make
// it rank 0 of many and wait for ever.
LaunchInfo from_slurm(const Variables& env) {
  LaunchInfo info = read_numbers(env, Launcher::slurm,
                                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""});
  const auto hosts = env.number("SLURM_STEP_NUM_NODES", 1);
  if (hosts && *hosts == 1) info.local_size = info.size;
  info.job = env.text("SLURM_JOB_ID") + "." + env.text("SLURM_STEP_ID");
  info.restart = env.number("SLURM_RESTART_COUNT", 0).value_or(0);
  info.pmix = env.has("PMIX_NAMESPACE") && env.has("PMIX_RANK");
  if (info.pmix || info.size == 1) return info;
  take_master(env, info);
  if (info.meeting.empty()) info.meeting = first_host_of(env.text("SLURM_STEP_NODELIST"));
  if (info.meeting.empty()) {
    throw UserError(
        "SLURM_STEP_NODELIST names no host and MASTER_ADDR is not set; start with srun "
        "--mpi=pmix, or set MASTER_ADDR to the first host");
  }
  if (info.port == 0) {
    info.port = port_of_job(info.job);
    info.port_shared = true;
  }
  return info;
}

LaunchInfo from_hand(const Variables& env) {
  LaunchInfo info = read_numbers(env, Launcher::by_hand,
                                 {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  take_master(env, info);
  if (info.size > 1) need_master(env, info);
  return info;
}

LaunchInfo detect(const Variables& env) {
  if (env.has("TANDEM_RANK")) return from_local(env);
  if (env.has("TORCHELASTIC_RUN_ID")) return from_torchrun(env);
  if (env.has("OMPI_COMM_WORLD_RANK") || env.has("OMPI_COMM_WORLD_SIZE")) return from_mpirun(env);
  const bool by_hand = env.has("RANK") || env.has("WORLD_SIZE");
  if (env.has("SLURM_STEP_NUM_TASKS") && env.has("SLURM_PROCID")) {
    LaunchInfo info = from_slurm(env);
    if (by_hand) {
      env.must_agree("RANK", info.rank, "SLURM_PROCID");
      env.must_agree("WORLD_SIZE", info.size, "SLURM_STEP_NUM_TASKS");
    }
    return info;
  }
  if (by_hand) return from_hand(env);
  if (env.has("PMI_RANK") && env.number("PMI_SIZE", 1).value_or(1) > 1) {
    throw UserError(
        "PMI_RANK is set, but no launcher that tandem knows set it (MPICH?); use Open MPI's "
        "mpirun, srun, torchrun --no-python, or set RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT");
  }
  return {};
}

std::string_view name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::none:
      return "nobody";
    case Launcher::local:
      return "tandem";
    case Launcher::mpirun:
      return "mpirun";
    case Launcher::slurm:
      return "srun";
    case Launcher::torchrun:
      return "torchrun";
    case Launcher::by_hand:
      return "hand";
  }
  return "";
}

}  // namespace

LaunchInfo detect_launch(const EnvMap& env) {
  const Variables variables(env);
  LaunchInfo info = detect(variables);
  if (info.by == Launcher::none && variables.has("MASTER_ADDR")) {
    throw UserError(
        "MASTER_ADDR is set but RANK and WORLD_SIZE are not; set all of them, or remove "
        "MASTER_ADDR to run alone");
  }
  info.secret = variables.text("TANDEM_TOKEN");
  return info;
}

bool is_one_of_several(const EnvMap& env) {
  return detect(Variables(env)).size > 1;
}

std::string describe(const LaunchInfo& info, const std::string& host) {
  if (info.by == Launcher::none) return format("one worker on {}", host);
  std::string text =
      format("launched by {}: rank {} of {}", name_of(info.by), info.rank, info.size);
  if (info.local_size > 0) {
    text += format(", worker {} of {} on {}", info.local_rank, info.local_size, host);
  } else {
    text += format(" on {}", host);
  }
  if (info.restart > 0) text += format(", restart {}", info.restart);
  return text;
}

EnvMap local_worker_env(int rank, int size, const std::string& address, int port, int listen_fd,
                        const std::string& secret) {
  EnvMap env{{"TANDEM_RANK", format("{}", rank)},
             {"TANDEM_WORKERS", format("{}", size)},
             {"TANDEM_MEETING", address},
             {"TANDEM_MEETING_PORT", format("{}", port)},
             {"TANDEM_TOKEN", secret}};
  if (rank == 0) env["TANDEM_LISTEN_FD"] = format("{}", listen_fd);
  return env;
}

EnvMap restart_env(int restart, const std::string& cause) {
  if (restart == 0) return {};
  return {{"TANDEM_RESTART", format("{}", restart)}, {"TANDEM_RESTART_CAUSE", cause}};
}

}  // namespace tandem
