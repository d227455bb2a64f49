#include "translate/export/marian_names.h"

#include <initializer_list>

#include "base/format.h"

namespace tandem {
namespace {

class MarianNames {
 public:
  // theirs: the names of equal parts that lie above each other in ours.
  void both(std::initializer_list<std::string> theirs, const std::string& ours) {
    for (const char* kind : {".weight", ".bias"}) {
      std::int64_t part = 0;
      for (const std::string& name : theirs) {
        arrays.push_back(
            {name + kind, ours + kind, part++, static_cast<std::int64_t>(theirs.size())});
      }
    }
  }
  void matrix(const std::string& theirs, const std::string& ours) {
    arrays.push_back({theirs + ".weight", ours + ".weight"});
  }
  void layer(const std::string& theirs, const std::string& ours, bool with_cross) {
    const std::string self = theirs + ".self_attn", cross = theirs + ".encoder_attn";
    both({self + ".q_proj", self + ".k_proj", self + ".v_proj"}, ours + ".attention.qkv");
    both({self + ".out_proj"}, ours + ".attention.out");
    both({theirs + ".self_attn_layer_norm"}, ours + ".attention.norm");
    if (with_cross) {
      both({cross + ".q_proj"}, ours + ".cross.q");
      both({cross + ".k_proj", cross + ".v_proj"}, ours + ".cross.kv");
      both({cross + ".out_proj"}, ours + ".cross.out");
      both({theirs + ".encoder_attn_layer_norm"}, ours + ".cross.norm");
    }
    both({theirs + ".fc1"}, ours + ".ffn.in");
    both({theirs + ".fc2"}, ours + ".ffn.out");
    both({theirs + ".final_layer_norm"}, ours + ".ffn.norm");
  }
  void stack(const std::string& name, std::int64_t layers) {
    for (std::int64_t i = 0; i < layers; ++i) {
      layer(format("model.{}.layers.{}", name, i), format("{}.layers.{}", name, i),
            name == "decoder");
    }
  }

  std::vector<MarianArray> arrays;
};

}  // namespace

std::vector<MarianArray> marian_arrays(const ModelConfig& config) {
  MarianNames names;
  if (config.tied == Tied::all) {
    names.matrix("model.shared", "embedding");
  } else {
    names.matrix("model.encoder.embed_tokens", "encoder.embedding");
    names.matrix("model.decoder.embed_tokens", "decoder.embedding");
  }
  names.stack("encoder", config.encoder_layers);
  names.stack("decoder", config.decoder_layers);
  if (config.tied == Tied::none) names.matrix("lm_head", "output");
  return names.arrays;
}

}  // namespace tandem
