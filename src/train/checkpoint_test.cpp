#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/temporary_folder.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_store.h"
#include "train/resume.h"
#include "train/retention.h"

namespace tandem {
namespace {

struct Fixture {
  FlatParams layout{{{"a.weight", {5, 3}}, {"b.bias", {7}}}, at::kCPU};

  TrainTensors tensors(double seed, bool averaging = true) const {
    const auto made = [&](double shift) {
      Tensor flat = at::zeros_like(layout.values());
      for (const auto& slot : layout.slots()) {
        flat.narrow(0, slot.offset, slot.count)
            .copy_(at::sin(at::arange(slot.count) + seed + shift));
      }
      return flat;
    };
    return {made(0), made(0.1), made(0.2), averaging ? made(0.3) : Tensor()};
  }
  TrainTensors empty(bool averaging = true) const {
    const Tensor zero = at::zeros_like(layout.values());
    return {zero.clone(), zero.clone(), zero.clone(), averaging ? zero.clone() : Tensor()};
  }
  static SaveRequest request(std::int64_t step) {
    SaveRequest request;
    request.checkpoint = true;
    request.state.step = step;
    request.settings = Json::object();
    return request;
  }
};

void flip_a_bit(const fs::path& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char byte = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 4));
}

TEST(Checkpoint, ComesBackToTheBit) {
  const TemporaryFolder folder;
  const Fixture f;
  for (const bool averaging : {true, false}) {
    const fs::path path = folder.path() / "step-1";
    const TrainTensors saved = f.tensors(1, averaging), back = f.empty(averaging);
    write_checkpoint(path, f.layout, saved, Json::object().set("step", 1));
    EXPECT_EQ(checkpoint_problem(path), "");
    read_checkpoint_tensors(path, f.layout, back);
    EXPECT_TRUE(at::equal(saved.values, back.values));
    EXPECT_TRUE(at::equal(saved.first, back.first));
    EXPECT_TRUE(at::equal(saved.second, back.second));
    if (averaging) {
      EXPECT_TRUE(at::equal(saved.averaged, back.averaged));
    }
    EXPECT_EQ(read_checkpoint_state(path).at("step").as_int(), 1);
  }
}

TEST(Checkpoint, OneOfAnotherStepThanItsFolderIsRefused) {
  const TemporaryFolder folder;
  const Fixture f;
  const fs::path path = folder.path() / "step-00000001", elsewhere = folder.path() / "a copy";
  write_checkpoint(path, f.layout, f.tensors(1), Json::object().set("step", 2));
  EXPECT_THROW(read_checkpoint_state(path), UserError);
  EXPECT_THROW(read_checkpoint_state(path / ""), UserError);
  fs::rename(path, elsewhere);
  EXPECT_EQ(read_checkpoint_state(elsewhere).at("step").as_int(), 2);
}

TEST(Checkpoint, EveryFlippedBitMissingFileAndCutIsFound) {
  const TemporaryFolder folder;
  const Fixture f;
  const fs::path path = folder.path() / "step-1";
  write_checkpoint(path, f.layout, f.tensors(1), Json::object().set("step", 1));
  for (const char* name : {kModelFile, kOptimizerFile, kStateFile, kManifestFile}) {
    const std::string whole = read_file(path / name);
    const auto problem_with = [&](const std::string& contents) {
      std::ofstream(path / name, std::ios::binary) << contents;
      return checkpoint_problem(path);
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
      // White space of the manifest is the only part that carries nothing.
      if (name == kManifestFile && (whole[at] == ' ' || whole[at] == '\n')) continue;
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      EXPECT_NE(problem_with(damaged), "") << name << " " << at;
    }
    EXPECT_NE(problem_with(whole.substr(0, whole.size() / 2)), "") << name;
    EXPECT_NE(problem_with(whole + "x"), "") << name;
    fs::remove(path / name);
    EXPECT_NE(checkpoint_problem(path), "") << name;
    EXPECT_EQ(problem_with(whole), "") << name;
  }
  EXPECT_NE(checkpoint_problem(folder.path() / "absent"), "");
}

TEST(Checkpoint, AManifestOfOtherFilesIsNone) {
  const TemporaryFolder folder;
  const Fixture f;
  const fs::path path = folder.path() / "step-1";
  write_checkpoint(path, f.layout, f.tensors(1), Json::object().set("step", 1));
  const std::vector<ManifestEntry> right = manifest_entries(path);
  std::vector<ManifestEntry> fewer{right[0], right[1]}, outside = right;
  outside[2].name = "../step-1/state.json";
  for (const auto& entries : {fewer, outside, std::vector<ManifestEntry>{}}) {
    atomic_write(path / kManifestFile, manifest_text(entries));
    EXPECT_NE(checkpoint_problem(path), "");
  }
  atomic_write(path / kManifestFile, manifest_text(right));
  EXPECT_EQ(checkpoint_problem(path), "");
}

TEST(CheckpointStore, SavesWhatWasThereWhenItWasAsked) {
  const TemporaryFolder folder;
  const Fixture f;
  const RunFolder run(folder.path());
  TrainTensors live = f.tensors(1);
  const Tensor then = live.values.clone();
  {
    CheckpointStore store(run, {{}, "vocab"}, f.layout);
    store.save(Fixture::request(1), live);
    live.values.fill_(9);  // training goes on
  }
  const TrainTensors back = f.empty();
  read_checkpoint_tensors(run.checkpoint(1), f.layout, back);
  EXPECT_TRUE(at::equal(back.values, then));
  EXPECT_EQ(read_file(run.latest()), "step-00000001\n");
}

TEST(CheckpointStore, KeepsTheNewestAndTheBest) {
  const TemporaryFolder folder;
  const Fixture f;
  const RunFolder run(folder.path());
  RunConfig config;
  config.checkpoint = {.every = 1, .keep = 2, .best = 2};
  CheckpointStore store(run, {config, "vocab"}, f.layout);
  std::vector<BestModel> best;
  for (const auto& [step, loss] : {std::pair{1, 3.0}, {2, 1.0}, {3, 2.0}, {4, 5.0}}) {
    SaveRequest request = Fixture::request(step);
    best = rank_best(best, {step, loss}, 2);
    request.state.best = best;
    if (std::ranges::find(best, BestModel{step, loss}) != best.end()) {
      request.best = BestModel{step, loss};
    }
    store.save(request, f.tensors(step));
  }
  store.wait();
  for (const SaveOutcome& outcome : store.finished()) EXPECT_EQ(outcome.failure, "");
  std::vector<std::int64_t> steps;
  for (const auto& [step, path] : run.list_checkpoints()) steps.push_back(step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{3, 4}));
  std::vector<std::string> names;
  for (const auto& [path, model] : run.list_best()) names.push_back(path.filename());
  EXPECT_EQ(names, (std::vector<std::string>{"val_loss=1.0000-step-2", "val_loss=2.0000-step-3"}));
  EXPECT_EQ(read_file(run.best() / names[0] / "vocab.model"), "vocab");
}

TEST(CheckpointStore, AFailureIsReportedAndTheNextSaveWorks) {
  const TemporaryFolder folder;
  const Fixture f;
  const RunFolder run(folder.path());
  std::ofstream(run.checkpoints()) << "a file in the way";
  CheckpointStore store(run, {{}, "vocab"}, f.layout);
  store.save(Fixture::request(1), f.tensors(1));
  store.wait();
  auto outcomes = store.finished();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_NE(outcomes[0].failure, "");
  fs::remove(run.checkpoints());
  store.save(Fixture::request(2), f.tensors(2));
  store.wait();
  outcomes = store.finished();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].failure, "");
  EXPECT_EQ(checkpoint_problem(run.checkpoint(2)), "");
}

TEST(Resume, TheNewestWholeCheckpointIsFoundAndDamagedOnesAreNamed) {
  const TemporaryFolder folder;
  const Fixture f;
  const RunFolder run(folder.path());
  EXPECT_FALSE(find_resume_point(run, "auto").checkpoint);
  for (const std::int64_t step : {1, 2, 3}) {
    write_checkpoint(run.checkpoint(step), f.layout, f.tensors(1),
                     Json::object().set("step", step));
  }
  EXPECT_EQ(find_resume_point(run, "auto").checkpoint, run.checkpoint(3));
  EXPECT_THROW(find_resume_point(run, "never"), UserError);
  EXPECT_THROW(find_resume_point(run, run.checkpoint(2)), UserError);  // 3 is newer
  EXPECT_EQ(find_resume_point(run, run.checkpoint(3)).checkpoint, run.checkpoint(3));

  flip_a_bit(run.checkpoint(3) / kModelFile, 60);
  fs::remove(run.checkpoint(2) / kManifestFile);
  const ResumePoint point = find_resume_point(run, "auto");
  EXPECT_EQ(point.checkpoint, run.checkpoint(1));
  ASSERT_EQ(point.damaged.size(), 2u);
  EXPECT_NE(point.damaged[0].find("step-00000003"), std::string::npos);
  EXPECT_NE(point.damaged[0].find("model.safetensors"), std::string::npos);
  EXPECT_NE(point.damaged[1].find("MANIFEST.json"), std::string::npos);

  fs::remove(run.checkpoint(1) / kStateFile);
  EXPECT_THROW(find_resume_point(run, "auto"), UserError);  // never from scratch without a word
}

TEST(RunLock, ASecondOneIsRefusedWithTheNumberOfTheFirst) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  const RunLock first(run);
  try {
    const RunLock second(run);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(::getpid())), std::string::npos);
  }
}

}  // namespace
}  // namespace tandem
