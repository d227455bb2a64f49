#include "cli/run_start.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/scaled_text.h"
#include "cli/run_setup.h"
#include "cluster/comm_text.h"
#include "cluster/replicas.h"
#include "config/dump.h"
#include "config/host_settings.h"
#include "model/layout.h"
#include "model/model_folder.h"
#include "model/model_path.h"
#include "train/begin_anew.h"
#include "train/checkpoint_folder.h"
#include "train/memory_guard.h"
#include "train/retention.h"
#include "train/run_summary.h"

namespace tandem {
namespace {

// Settings that say which function of its weights a model is. Rates of dropout and the longest
// sentence do not, but for trained positions, whose shape tells.
bool shapes_model(const std::string& key) {
  return key != "preset" && key != "max_positions" && !key.ends_with("dropout");
}

// What a person should know about it.
std::string take_weights(const std::string& from, const RunConfig& config, const Json& settings,
                         Learner& learner) {
  FlatParams& params = learner.model.params();
  const fs::path folder = find_model_folder(from);
  const ModelFolder other = load_model_folder(folder, params.device());
  const std::string vocab = hash_text(other.vocab->hash());
  const std::string own_vocab = settings.at("dataset").at("vocabulary").as_string();
  if (vocab != own_vocab) {
    throw UserError(
        format("start_from={}: its vocabulary is {}, but that of the dataset is {}; prepare the "
               "dataset with --vocab {}",
               from, vocab, own_vocab, (folder / kModelVocab).string()));
  }
  std::vector<std::string> differences;
  for (const SettingChange& change :
       changed_settings(dump_json(other.config).at("model"), dump_json(config).at("model"))) {
    if (!shapes_model(change.key)) continue;
    differences.push_back(format("model.{}={}", change.key, change.was));
  }
  if (!differences.empty()) {
    throw UserError(format("start_from={}: that model has other settings; set {}", from,
                           join(differences, ", ")));
  }
  if (other.model->params().count() != params.count()) {
    throw UserError(
        format("start_from={}: that model has another number of positions; set "
               "model.max_positions={}",
               from, other.config.model.max_positions));
  }
  const at::NoGradGuard no_gradient;
  params.values().copy_(other.model->params().values());
  return format("began with the weights of {}", folder.string());
}

RunStart start_anew(const RunConfig& config, const Json& settings, Learner& learner) {
  RunStart start;
  if (config.start_from) {
    start.notes.push_back(take_weights(*config.start_from, config, settings, learner));
  } else {
    learner.model.initialize(static_cast<std::uint64_t>(config.seed));
  }
  const bool scaled = config.precision == Precision::fp16;
  start.state.loss_scale.scale = scaled ? config.optim.loss_scale : 1;
  return start;
}

// Empty: nothing that a person should know.
std::string note_of(const SettingChange& change) {
  if (change.key == "run") return {};
  if (change.key == "valid") {
    return "the validation part is another one: best models and patience begin anew, and those in "
           "best/ go with the next save";
  }
  if (change.key == "start_from") {
    return "start_from has no effect: the run goes on from a checkpoint";
  }
  return format("{} was {} and is {} from here on", change.key, change.was, change.is);
}

std::string rate_note(const TrainState& stored, const TrainState& state) {
  if (stored.rollbacks == 0) return {};
  if (state.rollbacks == 0) {
    return "with the changed settings the learning rate is as set, and the run may go back again";
  }
  return format("the learning rate is times {:.3g}: the run went back {} times", state.rate_factor,
                state.rollbacks);
}

// The best models of another run, or of a course that this one went back from, are not here.
void forget_absent_models(std::vector<BestModel>& best, const RunFolder& run) {
  std::erase_if(best, [&](const BestModel& model) {
    return !is_model_folder(run.best() / best_name(model));
  });
}

// The state of a checkpoint as far as it holds for this run with its settings.
void take_state(const TrainState& before, const Json& stored, const RunConfig& config,
                const Json& settings, const std::string& name, RunStart& start) {
  for (const SettingChange& change : check_settings(stored.at("settings"), settings, name)) {
    // Of an earlier program, which did not keep it.
    if (change.key == "valid" && stored.at("settings").find("valid") == nullptr) continue;
    start.changed.push_back(change.key);
    if (std::string note = note_of(change); !note.empty()) start.notes.push_back(std::move(note));
  }
  start.state = before;
  begin_anew(start.state, start.changed, config);
  forget_absent_models(start.state.best, RunFolder(config.run));
  if (std::string note = rate_note(before, start.state); !note.empty()) {
    start.notes.push_back(std::move(note));
  }
}

// What int8 and int4 keep back follows the loss scale, which may be another one now.
std::vector<Tensor> kept_at(const fs::path& checkpoint, double stored_scale, double scale,
                            const FlatParams& params) {
  std::vector<Tensor> kept = read_checkpoint_kept(checkpoint, params);
  if (scale != stored_scale) {
    for (const Tensor& tensor : kept) tensor.mul_(scale / stored_scale);
  }
  return kept;
}

RunStart start_at(const ResumePoint& point, const RunConfig& config, const Json& settings,
                  Learner& learner) {
  const at::NoGradGuard no_gradient;
  RunStart start;
  const std::string name = point.checkpoint->string();
  start.notes = point.damaged;
  start.notes.push_back(format("resumed from {}", name));
  const Json stored = read_checkpoint_state(*point.checkpoint);
  const TrainState before = state_from_json(stored, (*point.checkpoint / kStateFile).string());
  take_state(before, stored, config, settings, name, start);
  start.resumed_from = start.state.step;
  const FlatParams& params = learner.model.params();
  const bool averaging = learner.adam.averaged().defined();
  params.values().copy_(
      read_checkpoint_array(*point.checkpoint, params, StateArray::values, averaging));
  start.kept =
      kept_at(*point.checkpoint, before.loss_scale.scale, start.state.loss_scale.scale, params);
  return start;
}

// What rank 0 found out about the start, to all.
void tell_all(Comm& comm, RunStart& start) {
  Json changed = Json::array();
  for (const std::string& key : start.changed) changed.push(key);
  const std::string text = text_of_first(comm, Json::object()
                                                   .set("state", state_json(start.state))
                                                   .set("changed", std::move(changed))
                                                   .dump());
  constexpr std::string_view kState = "rank 0's state";
  const Json told = Json::parse(text, kState);
  start.state = state_from_json(told.at("state"), kState);
  start.changed.clear();
  for (const Json& key : told.at("changed").items()) start.changed.push_back(key.as_string());
}

// Rank 0's buffer, laid out like the parameters, to all: each takes what it keeps. In pieces, so
// that nobody else needs room for all of it.
void deal_out(Comm& comm, const Tensor& whole, const Adam& adam, const Tensor& shard,
              std::int64_t size) {
  constexpr std::int64_t kAtOnce = 4 << 20;
  for (std::int64_t begin = 0; begin < size; begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, size - begin);
    const Tensor numbers = comm.first() ? whole.narrow(0, begin, count) : at::empty({count});
    comm.broadcast(numbers);
    for (const auto& part : adam.plan().parts_of(comm.rank(), {begin, begin + count})) {
      shard.narrow(0, part.at, part.size())
          .copy_(numbers.narrow(0, part.begin - begin, part.size()));
    }
  }
}

// The optimizer's state is that of the checkpoint on all workers; one array at a time.
void resume_adam(const ResumePoint& point, Learner& learner, Comm& comm) {
  const FlatParams& params = learner.model.params();
  const Adam& adam = learner.adam;
  const bool averaging = adam.averaged().defined();
  const auto set = [&](StateArray which, const Tensor& state) {
    if (!state.defined()) return;
    Tensor whole;
    if (comm.first()) whole = read_checkpoint_array(*point.checkpoint, params, which, averaging);
    if (adam.sharded()) return deal_out(comm, whole, adam, state, params.values().numel());
    if (comm.first()) state.copy_(whole);
    comm.broadcast(state);
  };
  set(StateArray::first, adam.first_moment());
  set(StateArray::second, adam.second_moment());
  set(StateArray::averaged, adam.averaged());
}

// Of several workers each keeps the state of some pieces.
AdamShard shard_for(const RunConfig& config, at::Device device, Comm& comm) {
  if (!config.optim.shard || comm.alone()) return {};
  if (device.is_cuda()) {
    throw UserError("optim.shard=true works on CPUs only so far; set it to false, or device=cpu");
  }
  return {comm.rank(), comm.size(), [&comm](std::span<double> sums) {
            comm.all_reduce(at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())},
                                          at::TensorOptions().dtype(at::kDouble)));
          }};
}

}  // namespace

Learner::Learner(const RunConfig& config, std::int64_t vocabulary, at::Device device, Comm& comm)
    : model(config.model, vocabulary, device, compute_type(config.precision)),
      adam(model.params(), config.optim, AdamLoop::fast, shard_for(config, device, comm)) {
  model.set_ops(config.ops);
}

std::unique_ptr<Learner> make_learner(const RunConfig& config, std::int64_t vocabulary,
                                      at::Device device, Comm& comm) {
  std::unique_ptr<Learner> learner;
  guard_memory(
      [&] {
        const auto count = parameter_count(model_layout(config.model, vocabulary));
        return format(
            "out of memory: a model of {} parameters needs about {}; make the model "
            "smaller or use a larger machine",
            count,
            bytes_text(static_cast<double>(
                memory_estimate_bytes(config, count, vocabulary, comm.size()))));
      },
      [&] { learner = std::make_unique<Learner>(config, vocabulary, device, comm); });
  return learner;
}

RunStart start_run(const ResumePoint& point, const RunConfig& config, const Json& settings,
                   Learner& learner, Comm& comm) {
  RunStart start;
  if (comm.first()) {
    start = point.checkpoint ? start_at(point, config, settings, learner)
                             : start_anew(config, settings, learner);
  }
  if (!comm.alone()) tell_all(comm, start);
  const at::NoGradGuard no_gradient;
  comm.broadcast(learner.model.params().values());
  if (start.state.step > 0) {
    resume_adam(point, learner, comm);
  } else {
    learner.adam.start_average();
  }
  if (comm.alone()) return start;
  check_replicas(comm, learner.model.params().values(), start.state.step);
  return start;
}

void check_same_settings(Comm& comm, const Json& settings) {
  if (comm.alone()) return;
  const auto texts = texts_of_all(comm, settings.dump());
  const Json first = Json::parse(texts.front(), "rank 0's settings");
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    std::vector<std::string> differences;
    for (const SettingChange& change :
         changed_settings(first, Json::parse(texts[rank], "a worker's settings"))) {
      if (is_host_setting(change.key)) continue;
      differences.push_back(format("{} is {} there and {} on {}", change.key, change.is, change.was,
                                   comm.world().name_of(0)));
    }
    if (differences.empty()) continue;
    throw UserError(
        format("{} has other settings or another dataset: {}; start all workers with "
               "the same files",
               comm.world().name_of(static_cast<int>(rank)), join(differences, ", ")));
  }
}

}  // namespace tandem
