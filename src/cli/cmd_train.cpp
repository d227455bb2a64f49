// tandem train: puts the parts of a run together. The only place that knows all of them.
#include <ATen/Parallel.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "base/format.h"
#include "base/signals.h"
#include "cli/run_evaluation.h"
#include "cli/run_setup.h"
#include "cli/run_watchers.h"
#include "cli/verbs.h"
#include "config/dump.h"
#include "config/load.h"
#include "model/layout.h"
#include "model/model_folder.h"
#include "observe/console.h"
#include "observe/journal.h"
#include "observe/samples_file.h"
#include "train/memory_guard.h"
#include "train/resume.h"
#include "train/retention.h"
#include "train/trainer.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> settings;
  std::string resume = "auto";
};

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

LoaderSetting loader_setting(const RunConfig& config) {
  LoaderSetting setting;
  setting.seed = static_cast<std::uint64_t>(config.seed);
  setting.batch = batch_setting(config);
  setting.cut.max_tokens_per_micro = config.batch.max_tokens_per_micro;
  return setting;
}

TrainSetting train_setting(const RunConfig& config, Json settings) {
  TrainSetting setting;
  setting.seed = static_cast<std::uint64_t>(config.seed);
  setting.fp16 = config.precision == Precision::fp16;
  setting.optim = config.optim;
  setting.stop = config.stop;
  setting.checkpoint = config.checkpoint;
  setting.eval_every = config.eval.every;
  setting.sample_every = config.eval.samples > 0 ? config.eval.sample_every : 0;
  setting.max_tokens_per_micro = config.batch.max_tokens_per_micro;
  setting.settings = std::move(settings);
  return setting;
}

// What is trained. Lives in one place: Adam refers to the parameters.
struct Learner {
  Learner(const RunConfig& config, std::int64_t vocabulary, at::Device device)
      : model(config.model, vocabulary, device, compute_type(config.precision)),
        adam(model.params(), config.optim) {}
  Transformer model;
  Adam adam;
};

std::unique_ptr<Learner> make_learner(const RunConfig& config, std::int64_t vocabulary,
                                      at::Device device) {
  std::unique_ptr<Learner> learner;
  guard_memory(
      [&] {
        const auto count = parameter_count(model_layout(config.model, vocabulary));
        return format(
            "out of memory: a model of {} parameters needs about {}; make the model "
            "smaller or use a larger machine",
            count,
            size_text(static_cast<double>(memory_estimate_bytes(config, count, vocabulary))));
      },
      [&] { learner = std::make_unique<Learner>(config, vocabulary, device); });
  return learner;
}

// Sets weights and optimizer to the checkpoint, after checking that it belongs to these settings.
struct Start {
  TrainState state;
  std::optional<std::int64_t> resumed_from;
  std::vector<std::string> notes;  // what a person should know about the resume
};
Start start_at(const ResumePoint& point, const RunConfig& config, const Json& settings,
               Transformer& model, Adam& adam) {
  Start start;
  if (!point.checkpoint) {
    model.initialize(static_cast<std::uint64_t>(config.seed));
    adam.start_average();
    const bool scaled = config.precision == Precision::fp16;
    start.state.loss_scale.scale = scaled ? config.optim.loss_scale : 1;
    return start;
  }
  const std::string name = point.checkpoint->string();
  const Json stored = read_checkpoint_state(*point.checkpoint);
  const auto changes = check_settings(stored.at("settings"), settings, name);
  start.state = state_from_json(stored);
  start.resumed_from = start.state.step;
  start.notes = point.damaged;
  start.notes.push_back(format("resumed from {}", name));
  for (const SettingChange& change : changes) {
    if (change.key == "run") continue;
    start.notes.push_back(
        format("{} was {} and is {} from here on", change.key, change.was, change.is));
  }
  read_checkpoint_tensors(
      *point.checkpoint, model.params(),
      {model.params().values(), adam.first_moment(), adam.second_moment(), adam.averaged()});
  return start;
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
                         const Adam& adam, const ModelFiles& files) {
  if (!state.best.empty()) {
    const fs::path best = run.best() / best_name(state.best.front());
    if (fs::exists(best)) {
      copy_folder(best, run.model());
      return format("{} is the best by validation loss, of step {}", run.model().string(),
                    state.best.front().step);
    }
  }
  const Tensor& weights = adam.averaged().defined() ? adam.averaged() : model.params().values();
  write_model_folder(run.model(), files.config, model.params(), weights, files.vocab_model,
                     {{"step", format("{}", state.step)}});
  return format("{} has the weights of step {}", run.model().string(), state.step);
}

// Trains; whatever ends it is in the journal and the log before it leaves. make_model: makes a
// model of what was trained and says which.
EndRecord run_to_end(Trainer& trainer, Observer& observers,
                     const std::function<std::string()>& make_model) {
  try {
    EndRecord end = trainer.run();
    if (end.reason != "signal") observers.on_event({end.step, "model", make_model()});
    observers.on_end(end);
    return end;
  } catch (const std::exception& error) {
    const TrainState& state = trainer.state();
    observers.on_end({state.step, "error", error.what(), state.seconds, state.tokens});
    throw;
  }
}

ExitCode train(const Options& options) {
  const SettingsArguments from = split_settings(options.settings);
  const RunConfig config = load_config(from.files, from.overrides);
  const Dataset data(config.data.path);
  const RunFolder run(config.run);
  const RunLock lock(run);
  const ResumePoint point = find_resume_point(run, options.resume);
  const StopSignals signals;
  const IgnoredSignals ignored;

  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const std::int64_t threads = config.threads.value_or(cores);
  at::set_num_threads(static_cast<int>(threads));
  const at::Device device = device_of(config.device);
  const Json settings = settings_of(config, data);
  const auto learner = make_learner(config, data.vocab->size(), device);
  Transformer& model = learner->model;
  Adam& adam = learner->adam;
  Start start = start_at(point, config, settings, model, adam);
  const std::int64_t first_step = start.state.step;

  atomic_write(run.config(), dump_yaml(config));
  ObserverList observers;
  auto console = std::make_unique<Console>(
      ConsoleSetting{config.log.every, config.stop.steps, config.cost.per_host_hour,
                     config.cost.currency, start.state.seconds},
      run.log(0));
  const RunFacts facts = facts_of(config, data, model, device.str());
  console->say(summary_text(config, facts));
  observers.add("the journal", std::make_unique<Journal>(run.journal(), now));
  observers.add("the console", std::move(console));
  observers.add("samples.txt", std::make_unique<SamplesFile>(run.samples()));
  const auto sampler = add_run_watchers(observers, run.root(), now);
  observers.on_run({start.resumed_from, run_record_facts(config, data, facts)});
  for (const std::string& note : start.notes) observers.on_event({first_step, "resume", note});
  if (const auto warning = disk_warning(config, facts)) {
    observers.on_event({first_step, "warning", *warning});
  }

  const ModelFiles files{config, data.vocab->model_bytes()};
  CheckpointStore store(run, files, model.params());
  Loader loader(data.train, loader_setting(config), start.state.cursor);
  Trainer trainer(train_setting(config, settings),
                  {model, adam, loader, store, observers,
                   evaluation_of(config, data, static_cast<std::size_t>(threads)),
                   samples_of(config, data, static_cast<std::size_t>(threads)), signals.flag()},
                  std::move(start.state));
  const EndRecord end = run_to_end(
      trainer, observers, [&] { return export_model(run, trainer.state(), model, adam, files); });
  if (end.reason == "signal") {
    throw Interrupted(format("{}; everything is saved, run the same command to go on", end.text));
  }
  return ExitCode::ok;
}

}  // namespace

void add_train(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb("train", "Train a model; the same command goes on where it stopped");
  verb.positional("SETTINGS", options->settings,
                  "YAML files, later ones over earlier ones, and key=value such as optim.lr=2.0");
  verb.option("--resume", options->resume,
              "auto: go on from the newest whole checkpoint of the run; never: refuse to; or the "
              "folder of a checkpoint");
  verb.run([options] { return train(*options); });
}

}  // namespace tandem
