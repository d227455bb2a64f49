#include "translate/export/ctranslate2.h"

#include "base/format.h"
#include "base/json.h"
#include "data/vocab.h"
#include "model/model_path.h"
#include "model/positions.h"
#include "translate/export/ctranslate2_file.h"

namespace tandem {
namespace {

constexpr std::uint32_t kTransformerRevision = 7;
constexpr double kNormEpsilon = 1e-5;

std::int8_t activation_number(Activation activation) {
  return activation == Activation::relu ? 0 : 3;  // 3: the exact GELU
}

// Puts the weights of a model under CTranslate2's names.
class Ctranslate2Names {
 public:
  Ctranslate2Names(const ModelConfig& config, const NamedWeights& weights, Ctranslate2File& file)
      : config_(config), weights_(weights), file_(file) {}

  void stack(const std::string& name, std::int64_t layers, const WeightView& positions) const {
    file_.int16_scalar(name + "/num_heads", static_cast<std::int16_t>(config_.heads));
    file_.flag(name + "/pre_norm", config_.norm == NormPlace::pre);
    file_.int8_scalar(name + "/activation", activation_number(config_.activation));
    file_.flag(name + "/scale_embeddings", true);  // by the square root of the width
    file_.array(name + "/position_encodings/encodings", positions);
    if (config_.norm == NormPlace::pre) norm(name + "/layer_norm", name + ".norm");
    for (std::int64_t i = 0; i < layers; ++i) {
      layer(format("{}/layer_{}", name, i), format("{}.layers.{}", name, i), name == "decoder");
    }
  }

  void words() const {
    const std::string source = "encoder/embeddings_0/weight", target = "decoder/embeddings/weight",
                      output = "decoder/projection/weight";
    const bool all = config_.tied == Tied::all;
    file_.matrix(target, weight(all ? "embedding" : "decoder.embedding"));
    if (all) {
      file_.alias(source, target);
    } else {
      file_.matrix(source, weight("encoder.embedding"));
    }
    if (config_.tied == Tied::none) {
      file_.matrix(output, weight("output"));
    } else {
      file_.alias(output, target);
    }
  }

  void constants() const {
    file_.int8_scalar("encoder/embeddings_merge", 0);
    for (const char* name :
         {"encoder/multi_query_attention", "decoder/alibi", "decoder/alibi_use_positive_positions",
          "decoder/scale_alibi", "decoder/start_from_zero_embedding"}) {
      file_.flag(name, false);
    }
    file_.int16_scalar("decoder/alignment_layer", -1);
    file_.int16_scalar("decoder/alignment_heads", 1);
  }

 private:
  const WeightView& weight(const std::string& name) const {
    return weight_of(weights_, name + ".weight");
  }
  void linear(const std::string& theirs, const std::string& ours) const {
    file_.matrix(theirs + "/weight", weight(ours));
    file_.array(theirs + "/bias", weight_of(weights_, ours + ".bias"));
  }
  void norm(const std::string& theirs, const std::string& ours) const {
    file_.array(theirs + "/gamma", weight(ours));
    file_.array(theirs + "/beta", weight_of(weights_, ours + ".bias"));
  }
  void layer(const std::string& theirs, const std::string& ours, bool with_cross) const {
    linear(theirs + "/self_attention/linear_0", ours + ".attention.qkv");
    linear(theirs + "/self_attention/linear_1", ours + ".attention.out");
    norm(theirs + "/self_attention/layer_norm", ours + ".attention.norm");
    if (with_cross) {
      linear(theirs + "/attention/linear_0", ours + ".cross.q");
      linear(theirs + "/attention/linear_1", ours + ".cross.kv");
      linear(theirs + "/attention/linear_2", ours + ".cross.out");
      norm(theirs + "/attention/layer_norm", ours + ".cross.norm");
    }
    linear(theirs + "/ffn/linear_0", ours + ".ffn.in");
    linear(theirs + "/ffn/linear_1", ours + ".ffn.out");
    norm(theirs + "/ffn/layer_norm", ours + ".ffn.norm");
  }

  const ModelConfig& config_;
  const NamedWeights& weights_;
  Ctranslate2File& file_;
};

std::string ctranslate2_config(const Vocab& vocab) {
  const SpecialIds& special = vocab.special_ids();
  return Json::object()
             .set("add_source_bos", false)
             .set("add_source_eos", true)
             .set("bos_token", vocab.piece(special.bos))
             .set("decoder_start_token", vocab.piece(special.bos))
             .set("eos_token", vocab.piece(special.eos))
             .set("layer_norm_epsilon", kNormEpsilon)
             .set("multi_query_attention", false)
             .set("unk_token", vocab.piece(special.unk))
             .dump(2) +
         "\n";
}

std::string list_of_pieces(const Vocab& vocab) {
  Json pieces = Json::array();
  for (std::int32_t id = 0; id < vocab.size(); ++id) pieces.push(vocab.piece(id));
  return pieces.dump(2) + "\n";
}

}  // namespace

void export_ctranslate2(const TranslationModel& model, NumberFormat numbers, const OutFolder& out) {
  StagedDirectory staged(out.path, out.replace);
  const ModelConfig& config = model.config.model;
  const NamedWeights weights = named_weights(*model.model);
  const Tensor computed = config.positions == Positions::sinusoidal
                              ? sinusoidal_positions(config.max_positions, config.d_model)
                              : Tensor();
  const auto positions = [&](const std::string& stack) -> WeightView {
    if (!computed.defined()) return weight_of(weights, stack + ".positions.weight");
    return {{config.max_positions, config.d_model},
            {computed.const_data_ptr<float>(), static_cast<std::size_t>(computed.numel())}};
  };

  Ctranslate2File file(numbers == NumberFormat::int8);
  const Ctranslate2Names names(config, weights, file);
  names.words();
  names.constants();
  names.stack("encoder", config.encoder_layers, positions("encoder"));
  names.stack("decoder", config.decoder_layers, positions("decoder"));
  file.write(staged.path() / "model.bin", "TransformerSpec", kTransformerRevision);
  atomic_write(staged.path() / "config.json", ctranslate2_config(*model.vocab));
  atomic_write(staged.path() / "shared_vocabulary.json", list_of_pieces(*model.vocab));
  atomic_write(staged.path() / kModelVocab, model.vocab->model_bytes());
  staged.commit();
}

}  // namespace tandem
