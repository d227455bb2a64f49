#include "model/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "config/dump.h"
#include "data/test_text.h"
#include "model/model_path.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no UserError";
}

RunConfig small_config() {
  RunConfig config;
  config.model.d_model = 16;
  config.model.heads = 2;
  config.model.ffn = 24;
  config.model.encoder_layers = config.model.decoder_layers = 1;
  config.eval.alpha = 0.1;
  return config;
}

class ModelFolderTest : public testing::Test {
 protected:
  void write(const fs::path& folder) const {
    Transformer model(config_.model, vocab_->size(), at::kCPU);
    model.initialize(3);
    write_model_folder(folder, config_, model.params(), model.params().values(),
                       vocab_->model_bytes(), {{"step", "7"}});
  }
  std::string load_failure() const {
    return failure_of([&] { load_model_folder(folder_, at::kCPU); });
  }

  const RunConfig config_ = small_config();
  const std::shared_ptr<const Vocab> vocab_ = test_vocab("bpe");
  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path() / "model";
};

TEST_F(ModelFolderTest, GivesBackWhatWasWritten) {
  write(folder_);
  const ModelFolder loaded = load_model_folder(folder_, at::kCPU);
  Transformer same(config_.model, vocab_->size(), at::kCPU);
  same.initialize(3);
  EXPECT_TRUE(at::equal(loaded.model->params().values(), same.params().values()));
  EXPECT_EQ(loaded.vocab->model_bytes(), vocab_->model_bytes());
  EXPECT_EQ(fingerprint(loaded.config), fingerprint(config_));
  EXPECT_EQ(loaded.metadata.at("step"), "7");
  write(folder_);  // replaces
  EXPECT_TRUE(is_model_folder(folder_));
}

TEST_F(ModelFolderTest, RefusesAnotherVocabularyByHash) {
  write(folder_);
  const auto other = test_vocab("unigram");  // of equal size, so that only the hash can tell
  ASSERT_EQ(other->size(), vocab_->size());
  atomic_write(folder_ / kModelVocab, other->model_bytes());
  EXPECT_THAT(load_failure(),
              AllOf(HasSubstr(hash_text(vocab_->hash())), HasSubstr(hash_text(other->hash()))));
}

TEST_F(ModelFolderTest, RefusesDamagedWeights) {
  write(folder_);
  std::fstream file(folder_ / kModelWeights, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-5, std::ios::end);
  file.put('x');
  file.close();
  EXPECT_THAT(load_failure(), AllOf(HasSubstr(kModelWeights), HasSubstr("damaged")));
}

TEST_F(ModelFolderTest, RefusesWeightsThatAreNotNumbers) {
  Transformer model(config_.model, vocab_->size(), at::kCPU);
  model.initialize(3);
  const auto& slot = model.params().slots().back();
  const Tensor values = model.params().values().clone();
  values[slot.offset] = std::nan("");
  write_model_folder(folder_, config_, model.params(), values, vocab_->model_bytes());
  EXPECT_THAT(load_failure(),
              AllOf(HasSubstr(kModelWeights), HasSubstr(slot.name), HasSubstr("not numbers")));
}

TEST_F(ModelFolderTest, RefusesMissingFilesAndOtherSettings) {
  write(folder_);
  RunConfig deeper = config_;
  deeper.model.encoder_layers = 2;
  atomic_write(folder_ / kModelConfig, dump_yaml(deeper));
  EXPECT_THAT(load_failure(), HasSubstr("encoder.layers.1"));
  deeper.model.d_model = 65536;
  deeper.model.ffn = 1 << 20;
  deeper.model.encoder_layers = 256;
  atomic_write(folder_ / kModelConfig, dump_yaml(deeper));  // petabytes
  EXPECT_THAT(load_failure(), HasSubstr("this model needs"));
  fs::remove(folder_ / kModelConfig);
  EXPECT_THAT(load_failure(), HasSubstr(kModelConfig));
}

class ModelPathTest : public testing::Test {
 protected:
  fs::path make(const std::string& name) const {
    const fs::path folder = run_ / name;
    fs::create_directories(folder);
    for (const char* file : {kModelWeights, kModelConfig, kModelVocab}) {
      std::ofstream(folder / file) << "x";
    }
    return folder;
  }
  const TemporaryFolder temporary_;
  const fs::path run_ = temporary_.path();
};

TEST_F(ModelPathTest, PrefersModelThenBestThenLatest) {
  EXPECT_THAT(failure_of([&] { find_model_folder(run_); }),
              AllOf(HasSubstr(run_.string()), HasSubstr("holds no model")));
  const fs::path step = make("checkpoints/step-00000900");
  EXPECT_THAT(failure_of([&] { find_model_folder(run_); }), HasSubstr("holds no model"));
  atomic_write(run_ / "checkpoints/latest", "step-00000900\n");
  EXPECT_EQ(find_model_folder(run_), step);
  make("best/val_loss=10.5-step-100");
  make("best/val_loss=nan-step-900");
  make("best/val_loss=0.5-step-900-copy");
  fs::create_directories(run_ / "best/val_loss=0.1-step-800");  // without files
  make("best/val_loss=9.25-step-300");
  const fs::path best = make("best/val_loss=9.25-step-1000");
  EXPECT_EQ(find_model_folder(run_), best);
  const fs::path model = make("model");
  EXPECT_EQ(find_model_folder(run_), model);
  EXPECT_EQ(find_model_folder(best), best);
}

TEST_F(ModelPathTest, FollowsALink) {
  const fs::path step = make("checkpoints/step-00000900");
  fs::create_directory_symlink("step-00000900", run_ / "checkpoints/latest");
  EXPECT_EQ(fs::canonical(find_model_folder(run_)), fs::canonical(step));
}

TEST_F(ModelPathTest, RefusesWhatIsNoFolder) {
  EXPECT_THAT(failure_of([&] { find_model_folder(run_ / "absent"); }), HasSubstr("absent"));
  EXPECT_THAT(failure_of([&] { find_model_folder(make("m") / kModelVocab); }),
              HasSubstr("is no folder"));
}

}  // namespace
}  // namespace tandem
