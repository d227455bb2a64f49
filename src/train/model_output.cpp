#include "train/model_output.h"

#include "model/model_file.h"
#include "train/checkpoint_store.h"

namespace tandem {

void write_model(const fs::path& folder, const FlatParams& layout, const Tensor& weights,
                 const ModelFiles& files) {
  StagedDirectory staged(folder, true);
  write_flat(staged.path() / kModelFile, layout, weights);
  atomic_write(staged.path() / "config.yaml", files.config_yaml);
  atomic_write(staged.path() / "vocab.model", files.vocab_model);
  staged.commit();
}

void copy_model(const fs::path& from, const fs::path& to) {
  StagedDirectory staged(to, true);
  for (const char* name : {kModelFile, "config.yaml", "vocab.model"}) {
    FileWriter out(staged.path() / name);
    out.write(MappedFile(from / name).bytes());
    out.finish();
  }
  staged.commit();
}

}  // namespace tandem
