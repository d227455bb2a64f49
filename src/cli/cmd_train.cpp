// tandem train: puts the parts of a run together. The only place that knows all of them.
#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <optional>

#include "base/format.h"
#include "base/heap.h"
#include "base/signals.h"
#include "cli/run_evaluation.h"
#include "cli/run_exchange.h"
#include "cli/run_files.h"
#include "cli/run_preflight.h"
#include "cli/run_rollback.h"
#include "cli/run_setup.h"
#include "cli/run_start.h"
#include "cli/run_team.h"
#include "cli/run_watchers.h"
#include "cli/run_workers.h"
#include "cli/verbs.h"
#include "cluster/launch.h"
#include "config/dump.h"
#include "config/load.h"
#include "model/model_folder.h"
#include "model/model_path.h"
#include "observe/console.h"
#include "observe/journal.h"
#include "observe/samples_file.h"
#include "train/resume.h"
#include "train/retention.h"
#include "train/trainer.h"
#include "translate/export/export_targets.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> settings;
  std::string resume = "auto";
  std::optional<std::int64_t> workers = 1;  // none: as many as fit
};

// How long the last copy of a checkpoint on another host may take.
constexpr std::chrono::seconds kMirrorAtEnd{600}, kMirrorOnSignal{10};
// How long a checkpoint that is being written may take when a signal ends a run that is cut off.
constexpr std::chrono::seconds kSaveOnSignal{5};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A closed terminal or pipe must not end a run of days; the log goes on in the run directory.
class IgnoredSignals {
 public:
  IgnoredSignals() {
    hangup_ = ::signal(SIGHUP, SIG_IGN);
    pipe_ = ::signal(SIGPIPE, SIG_IGN);
  }
  ~IgnoredSignals() {
    ::signal(SIGHUP, hangup_);
    ::signal(SIGPIPE, pipe_);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  void (*hangup_)(int);
  void (*pipe_)(int);
};

LoaderSetting loader_setting(const RunConfig& config, const Dataset& data, const Comm& comm) {
  LoaderSetting setting;
  setting.seed = static_cast<std::uint64_t>(config.seed);
  setting.batch = batch_setting(config, comm.size());
  setting.cut.max_tokens_per_micro = config.batch.max_tokens_per_micro;
  setting.cut.slot = {static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size())};
  if (config.data.sampling) {
    setting.vocab = data.vocab;
    setting.sampling.emplace(*config.data.sampling);
    if (config.data.sampling_nbest) {
      setting.sampling->nbest = static_cast<std::int32_t>(*config.data.sampling_nbest);
    }
  }
  return setting;
}

TrainSetting train_setting(const RunConfig& config, Json settings, double rate) {
  TrainSetting setting;
  setting.run = config.run;
  setting.seed = static_cast<std::uint64_t>(config.seed);
  setting.fp16 = config.precision == Precision::fp16;
  setting.optim = scaled_rate(config.optim, rate);
  setting.stop = config.stop;
  setting.checkpoint = config.checkpoint;
  setting.eval_every = config.eval.every;
  setting.sample_every = config.eval.samples > 0 ? config.eval.sample_every : 0;
  setting.check_every = config.cluster.check_every;
  setting.max_tokens_per_micro = config.batch.max_tokens_per_micro;
  setting.settings = std::move(settings);
  return setting;
}

// All files of a folder again under another name, which is replaced.
void copy_folder(const fs::path& from, const fs::path& to) {
  StagedDirectory staged(to, true);
  for (const auto& entry : fs::directory_iterator(from)) {
    FileWriter out(staged.path() / entry.path().filename());
    out.write(MappedFile(entry.path()).bytes());
    out.finish();
  }
  staged.commit();
}

// model/: the best model by validation loss, else the newest weights.
std::string export_model(const RunFolder& run, const TrainState& state, const Transformer& model,
                         const Tensor& weights, const ModelFiles& files) {
  for (const BestModel& kept : state.best) {
    const fs::path best = run.best() / best_name(kept);
    if (!is_model_folder(best)) continue;  // its save may have failed
    copy_folder(best, run.model());
    return format("{} is the best by validation loss, of step {}", run.model().string(), kept.step);
  }
  if (!at::isfinite(weights).all().item<bool>()) {
    throw UserError(
        format("no model is made of {}: the weights of step {} are not numbers; start again from "
               "an earlier checkpoint, or with another run=",
               run.root().string(), state.step));
  }
  write_model_folder(run.model(), files.config, model.params(), weights, files.vocab_model,
                     {{"step", format("{}", state.step)}});
  return format("{} has the weights of step {}", run.model().string(), state.step);
}

// Whatever ends training is in the journal and the log before it leaves. train: to its end; state:
// at any time; make_model: makes a model of what was trained and says which, called by rank 0.
struct Training {
  std::function<EndRecord()> train;
  std::function<const TrainState&()> state;
  std::function<std::string()> make_model;
};

EndRecord run_to_end(const Training& training, Observer& observers, Team& team, HostWatch& watch,
                     CheckpointMirror* mirror) {
  try {
    EndRecord end = training.train();
    team.at(end.step, "end of training");  // what is still to be written may take long
    // Whoever sent a signal does not wait for long.
    if (mirror != nullptr) mirror->finish(end.reason == "signal" ? kMirrorOnSignal : kMirrorAtEnd);
    const bool makes_model = team.world().rank == 0 && end.reason != "signal";
    if (makes_model) observers.on_event({end.step, "model", training.make_model()});
    observers.on_end(end);
    watch.finish(std::chrono::minutes(10));  // rank 0 may write a large model first
    return end;
  } catch (const std::exception& error) {
    team.ending();
    const TrainState& state = training.state();
    observers.on_end({state.step, "error", error.what(), state.seconds, state.tokens});
    watch.finish(std::chrono::seconds(1));
    throw;
  }
}

Json run_line(const RunConfig& config, const Dataset& data, const RunFacts& facts, const Team& team,
              const std::optional<PreflightReport>& links) {
  Json line = run_record_facts(config, data, facts);
  if (team.world().size() > 1) line.set("cluster", team.facts());
  if (links) line.set("preflight", preflight_json(*links));
  const auto link = links ? slowest_link_bits_per_s(*links) : std::nullopt;
  if (link) line.set("link_bits_per_s", *link);
  return line;
}

// Rank 0 has the terminal, the journal and all that is made of it; the others a log of their own.
std::unique_ptr<HostWatch> add_watchers(ObserverList& observers, const RunConfig& config,
                                        const RunFolder& run, const RunFacts& facts,
                                        const RunStart& start, Team& team,
                                        const std::optional<PreflightReport>& links,
                                        const std::string& exchange) {
  const bool first = team.world().rank == 0;
  std::optional<double> cost_per_hour = config.cost.per_host_hour;
  if (cost_per_hour) *cost_per_hour *= team.world().hosts();
  auto console =
      std::make_unique<Console>(ConsoleSetting{config.log.every, config.stop.steps, cost_per_hour,
                                               config.cost.currency, start.state.seconds, !first},
                                run.log(team.world().rank));
  console->say(summary_text(config, facts));
  if (!team.summary().empty()) console->say(team.summary());
  if (links) console->say(preflight_text(*links));
  if (!exchange.empty()) console->say(exchange);
  if (first) observers.add("the journal", std::make_unique<Journal>(run.journal(), now));
  observers.add("the console", std::move(console));
  const std::optional<double> link = links ? slowest_link_bits_per_s(*links) : std::nullopt;
  auto watch = std::make_unique<HostWatch>(team, observers, run.root(), link, now);
  if (first) observers.add("samples.txt", std::make_unique<SamplesFile>(run.samples()));
  return watch;
}

// Where a run begins, or begins again: in the journal, and for people. On rank 0.
void tell_start(Observer& observers, const RunStart& start, const Json& line, const char* event) {
  observers.on_run({start.resumed_from, line});
  for (const std::string& note : start.notes) {
    observers.on_event({start.state.step, event, note});
  }
}

TellWatch watch_of(Team& team, Observer& observers) {
  return {[&team, &observers](std::int64_t step, const char* phase) {
            team.at(step, phase);
            tell_events(team, observers);
          },
          [&team](double seconds) { team.worked(seconds); }};
}

// Two seconds before the first step of a training that spans hosts: what their links will make of
// it. May refuse the run (cluster.require).
std::optional<PreflightReport> check_links(Team& team, const RunConfig& config, const Dataset& data,
                                           Transformer& model, const TrainState& state) {
  if (team.world().hosts() < 2) return {};
  team.at(0, "preflight");
  PreflightReport report = run_preflight({config, team.world(), team.store(), team.interface(),
                                          &team.comm(), &data, &model, state.exchange});
  refuse_if_told(report);
  return report;
}

// What one worker of the team does, the only one or one of many.
EndRecord train_in(Team& team, HostFiles& files, const Options& options, const RunConfig& config,
                   const std::atomic<bool>& stop) {
  Comm& comm = team.comm();
  files.share_datasets();
  const Dataset data(config.data);
  const Json settings = settings_of(config, data, comm.size());
  check_same_settings(comm, settings);
  const RunFolder run(config.run);
  make_run_folders(run);
  std::optional<RunLock> lock;
  if (comm.first()) lock.emplace(run);
  const ResumePoint point = files.resume_point(options.resume);

  const std::int64_t threads = threads_of(config, team.workers_of_host());
  at::set_num_threads(static_cast<int>(threads));
  const at::Device device = device_of(config.device, team.world().self().local_rank);
  const auto learner = make_learner(config, data.vocab->size(), device, comm);
  Transformer& model = learner->model;
  Adam& adam = learner->adam;
  RunStart start = start_run(point, config, settings, *learner, comm);
  keep_freed_memory();
  const auto links = check_links(team, config, data, model, start.state);
  RunExchange exchange(team, config, *learner, start, links);

  if (comm.first()) atomic_write(run.config(), dump_yaml(config));
  ObserverList observers;
  RunFacts facts = facts_of(config, data, model, device.str(), comm.size());
  facts.peak_lr *= exchange.rate();
  const auto watch =
      add_watchers(observers, config, run, facts, start, team, links, exchange.text());
  Json line = run_line(config, data, facts, team, links);
  if (start.state.exchange) line.set("exchange", choice_json(*start.state.exchange));
  if (comm.first()) {
    tell_start(observers, start, line, "resume");
    const std::int64_t step = start.state.step;
    if (!team.restarted().empty()) observers.on_event({step, "restart", team.restarted()});
    for (const auto& text : {disk_warning(config, facts), schedule_warning(config, facts),
                             left_out_warning(config, data)}) {
      if (text) observers.on_event({step, "warning", *text});
    }
  }
  const auto mirror = files.mirror(observers);
  if (mirror) observers.add("the mirror", mirror->watcher());
  for (const std::string& note : files.notes()) {
    observers.on_event({start.state.step, "files", note});
  }
  const ModelFiles model_files{config, data.vocab->model_bytes()};
  CheckpointStore store(run, model_files, model.params(), [&team] { team.progressed(); });
  const Team::BeforeEnd before_end(team, [&](const std::string& lost) {
    if (lost.empty()) store.wait_for(kSaveOnSignal);
    tell_events(team, observers);
    // Time and tokens are the main thread's, which is stuck.
    if (!lost.empty()) observers.on_end({team.step(), "error", lost, 0, 0});
  });
  std::optional<Loader> loader;
  std::optional<Trainer> trainer;
  const auto begin_at = [&](TrainState state, bool save_first) {
    loader.emplace(data.train, loader_setting(config, data, comm), state.cursor);
    TrainSetting setting = train_setting(config, settings, exchange.rate());
    setting.save_first = save_first;
    trainer.emplace(std::move(setting),
                    TrainParts{model, adam, *loader, comm, exchange.gradients(), store, observers,
                               evaluation_of(config, data, static_cast<std::size_t>(threads), comm,
                                             [&] { return team.wants_stop(stop); }),
                               samples_of(config, data, static_cast<std::size_t>(threads)), stop,
                               watch_of(team, observers), exchange.local()},
                    std::move(state));
  };
  begin_at(std::move(start.state), false);
  Tensor newest;
  const auto train = [&] {
    for (;;) {
      try {
        EndRecord end = trainer->run();
        if (end.reason != "signal") newest = exchange.newest_weights();
        return end;
      } catch (const Diverged& found) {
        team.at(found.step, "going back");
        exchange.settle();
        RunStart again = roll_back(found, trainer->state(), run, store, files.course(), config,
                                   settings, *learner, comm);
        exchange.resume(again);
        again.state.loss_scale.skip_share = 0;  // the lower rate is judged by its own steps
        if (comm.first()) tell_start(observers, again, line, "rollback");
        // How often it went back, and the rate since, must outlive this process.
        begin_at(std::move(again.state), true);
      }
    }
  };
  const auto make_model = [&] {
    const std::string text = export_model(run, trainer->state(), model, newest, model_files);
    return text + export_targets(config.exports, run.model(), run.exports());
  };
  return run_to_end({train, [&]() -> const TrainState& { return trainer->state(); }, make_model},
                    observers, team, *watch, mirror.get());
}

// A launcher that is killed tells its workers nothing: the system shall, so that they save and end.
// Slurm's tell them themselves; a process that was started by hand may outlive its shell.
void end_with_launcher(Launcher by) {
  if (by == Launcher::mpirun || by == Launcher::torchrun) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

ExitCode train(const Options& options) {
  const SettingsArguments from = split_settings(options.settings);
  const RunConfig config = load_config(from.files, from.overrides);
  const EnvMap env = process_environment();
  const IgnoredSignals ignored;  // by workers that are started here, too
  const std::int64_t workers = options.workers ? *options.workers : fitting_workers(config);
  if (workers > 1) {
    return train_with_workers({options.settings, options.resume, workers}, config, env);
  }
  // Never given back: one who is told to end while the process winds up after the last save has
  // done its work and ends so, not by the signal.
  static const StopSignals* const kSignals = new StopSignals;
  const std::atomic<bool>& stop = kSignals->flag();
  end_with_launcher(detect_launch(env).by);
  Team team(config, env, stop);
  EndRecord end;
  team.work([&] {
    HostFiles files(team, config, stop);  // until all have left
    end = train_in(team, files, options, config, stop);
    team.leave();
  });
  if (!end.not_saved.empty()) {
    throw Interrupted(
        format("{}, but not saved: {}; lower optim.lr, raise optim.warmup_steps or set optim.clip",
               end.text, end.not_saved));
  }
  if (end.reason == "signal") {
    const char* without = options.resume == "auto" ? "" : "without --resume ";
    throw Interrupted(
        format("{}; everything is saved, run the same command {}to go on", end.text, without));
  }
  return ExitCode::ok;
}

}  // namespace

void add_train(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb("train", "Train a model; the same command goes on where it stopped");
  verb.positional("SETTINGS", options->settings,
                  "YAML files, later ones over earlier ones, and key=value such as optim.lr=2.0");
  verb.option("--workers", options->workers,
              "workers on this machine, each a process with its share of the cores; auto: one for "
              "each GPU or core, as far as memory and the tokens of a step go round",
              1, 1024);
  verb.option("--resume", options->resume,
              "auto: go on from the newest whole checkpoint of the run; never: refuse to; or the "
              "folder of a checkpoint");
  verb.run([options] { return train(*options); });
}

}  // namespace tandem
