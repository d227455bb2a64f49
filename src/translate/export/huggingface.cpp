#include "translate/export/huggingface.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "config/choice.h"
#include "data/vocab.h"
#include "model/model_path.h"
#include "model/safetensors.h"
#include "translate/export/marian_names.h"
#include "translate/export/named_weights.h"

namespace tandem {
namespace {

// transformers wants a mark to fill batches with; masked, so that any will do.
std::int32_t marian_pad(const SpecialIds& special) {
  return special.pad >= 0 ? special.pad : special.eos;
}

Json marian_config(const ModelConfig& model, const Vocab& vocab) {
  const SpecialIds& special = vocab.special_ids();
  Json config = Json::object()
                    .set("architectures", Json::array().push("MarianMTModel"))
                    .set("model_type", "marian")
                    .set("dtype", "float32")
                    .set("is_encoder_decoder", true);
  for (const std::string side : {"encoder", "decoder"}) {
    config.set(side + "_layers", side == "encoder" ? model.encoder_layers : model.decoder_layers)
        .set(side + "_attention_heads", model.heads)
        .set(side + "_ffn_dim", model.ffn)
        .set(side + "_layerdrop", 0.0);
  }
  return config.set("d_model", model.d_model)
      .set("activation_function", name_of(model.activation))
      .set("dropout", model.dropout)
      .set("attention_dropout", model.dropout_at(model.attention_dropout))
      .set("activation_dropout", model.dropout_at(model.relu_dropout))
      .set("max_position_embeddings", model.max_positions)
      .set("static_position_embeddings", true)
      .set("scale_embedding", true)
      .set("normalize_before", false)
      .set("normalize_embedding", false)
      .set("add_final_layer_norm", false)
      .set("share_encoder_decoder_embeddings", model.tied == Tied::all)
      .set("tie_word_embeddings", model.tied != Tied::none)
      .set("vocab_size", vocab.size())
      .set("decoder_vocab_size", vocab.size())
      .set("bos_token_id", special.bos)
      .set("decoder_start_token_id", special.bos)
      .set("eos_token_id", special.eos)
      .set("forced_eos_token_id", special.eos)
      .set("pad_token_id", marian_pad(special));
}

// Our search never writes marks; theirs is told so.
Json marian_generation(const RunConfig& config, const Vocab& vocab) {
  const SpecialIds& special = vocab.special_ids();
  Json never = Json::array();
  for (const std::int32_t id : {special.pad, special.bos, special.unk}) {
    if (id >= 0) never.push(Json::array().push(id));
  }
  return Json::object()
      .set("bad_words_ids", std::move(never))
      .set("bos_token_id", special.bos)
      .set("decoder_start_token_id", special.bos)
      .set("eos_token_id", special.eos)
      .set("forced_eos_token_id", special.eos)
      .set("pad_token_id", marian_pad(special))
      .set("max_length", std::min<std::int64_t>(config.model.max_positions, 512))
      .set("num_beams", config.eval.beam)
      .set("length_penalty", config.eval.alpha);
}

Json marian_tokenizer(const RunConfig& config, const Vocab& vocab) {
  const SpecialIds& special = vocab.special_ids();
  return Json::object()
      .set("tokenizer_class", "MarianTokenizer")
      .set("model_max_length", std::min(config.data.max_length, config.model.max_positions))
      .set("separate_vocabs", false)
      .set("clean_up_tokenization_spaces", false)
      .set("eos_token", vocab.piece(special.eos))
      .set("pad_token", vocab.piece(marian_pad(special)))
      .set("unk_token", vocab.piece(special.unk));
}

Json marian_vocabulary(const Vocab& vocab) {
  Json::Object ids;
  for (std::int32_t id = 0; id < vocab.size(); ++id) ids.emplace_back(vocab.piece(id), id);
  return Json::object(std::move(ids));
}

void write_marian_weights(const fs::path& path, const TranslationModel& model) {
  const NamedWeights weights = named_weights(*model.model);
  std::vector<ArrayView> arrays;
  for (const MarianArray& array : marian_arrays(model.config.model)) {
    const WeightView view = weight_of(weights, array.ours).part(array.part, array.parts);
    arrays.push_back({array.theirs, ArrayType::f32, view.shape, std::as_bytes(view.values)});
  }
  const std::vector<float> no_bias(static_cast<std::size_t>(model.vocab->size()));
  arrays.push_back(
      {kMarianBias, ArrayType::f32, {1, model.vocab->size()}, std::as_bytes(std::span{no_bias})});
  write_safetensors(path, arrays, {{"format", "pt"}});  // transformers asks for this word
}

}  // namespace

void export_huggingface(const TranslationModel& model, const OutFolder& out) {
  if (const std::string why = huggingface_obstacle(model.config.model); !why.empty()) {
    throw UserError(
        format("{}: {}; export it with --format ctranslate2, or train with settings "
               "that MarianMTModel has",
               model.folder.string(), why));
  }
  const Vocab& vocab = *model.vocab;
  StagedDirectory staged(out.path, out.replace);
  const auto put_json = [&](const char* name, const Json& json) {
    atomic_write(staged.path() / name, json.dump(2) + "\n");
  };
  put_json("config.json", marian_config(model.config.model, vocab));
  put_json("generation_config.json", marian_generation(model.config, vocab));
  put_json("tokenizer_config.json", marian_tokenizer(model.config, vocab));
  put_json("vocab.json", marian_vocabulary(vocab));
  atomic_write(staged.path() / "source.spm", vocab.model_bytes());
  atomic_write(staged.path() / "target.spm", vocab.model_bytes());
  write_marian_weights(staged.path() / kModelWeights, model);
  staged.commit();
}

}  // namespace tandem
