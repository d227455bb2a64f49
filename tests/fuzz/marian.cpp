// The settings of a MarianMT directory.
#include "base/error.h"
#include "config/validate.h"
#include "fuzz_target.h"
#include "model/layout.h"
#include "translate/export/marian_config.h"
#include "translate/export/marian_names.h"

namespace tandem {
namespace {

void read_any_marian(std::string_view input) {
  const auto parts = split_parts(input, 3);
  const fs::path config = scratch_file("config.json", parts[0]);
  scratch_file("tokenizer_config.json", parts[1]);
  scratch_file("generation_config.json", parts[2]);
  const RunConfig run = marian_run(scratch_folder(), MarianFile(config));
  check(validate(run).empty(), "settings that cannot be used");
  check(!marian_arrays(run.model).empty(), "a model without weights");
  check(parameter_count(model_layout(run.model, 100)) > 0, "a model without parameters");
}

std::vector<std::string> marian_seeds() {
  const std::string config =
      R"({"model_type":"marian","scale_embedding":true,"activation_function":"swish","d_model":512,)"
      R"("encoder_attention_heads":8,"decoder_attention_heads":8,"encoder_ffn_dim":2048,"decoder_ffn_dim":2048,)"
      R"("encoder_layers":6,"decoder_layers":6,"max_position_embeddings":512,"dropout":0.1,"vocab_size":100})";
  std::string gelu = config;
  gelu.replace(gelu.find("swish"), 5, "gelu");
  return {joined_parts(std::vector<std::string>{gelu, "{}", "{}"}),
          joined_parts(std::vector<std::string>{gelu, R"({"model_max_length":1e30})",
                                                R"({"num_beams":6,"length_penalty":1.0})"})};
}

const FuzzTarget kMarianTarget{"marian", read_any_marian, marian_seeds, 1000};

}  // namespace
}  // namespace tandem
