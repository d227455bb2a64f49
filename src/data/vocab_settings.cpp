#include "data/vocab_settings.h"

#include <array>

#include "base/error.h"
#include "base/format.h"
#include "base/protobuf.h"

namespace tandem {
namespace {

// Field numbers of SentencePiece's published schema (sentencepiece_model.proto).
namespace model_field {
constexpr std::uint32_t kPiece = 1, kTrainerSpec = 2, kNormalizerSpec = 3;
}
namespace piece_field {
constexpr std::uint32_t kType = 3;
constexpr std::uint64_t kUserDefined = 4;
}  // namespace piece_field
namespace trainer_field {
constexpr std::uint32_t kModelType = 3, kWhitespaceAsSuffix = 24;
}
namespace normalizer_field {
constexpr std::uint32_t kName = 1, kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4,
                        kEscapeWhitespaces = 5;
}

constexpr std::array<const char*, 5> kTypes = {"?", "unigram", "bpe", "word", "char"};

}  // namespace

VocabSettings read_vocab_settings(std::string_view model, std::string_view name) {
  VocabSettings settings;
  bool sound = true;
  bool any_piece = false;
  const auto read_piece = [&](const ProtobufField& f) {
    if (f.number == piece_field::kType && f.integer == piece_field::kUserDefined) {
      settings.has_user_defined_pieces = true;
    }
  };
  const auto read_trainer = [&](const ProtobufField& f) {
    if (f.number == trainer_field::kModelType && f.integer < kTypes.size()) {
      settings.type = kTypes[f.integer];
    }
    if (f.number == trainer_field::kWhitespaceAsSuffix)
      settings.whitespace_as_suffix = f.integer != 0;
  };
  const auto read_normalizer = [&](const ProtobufField& f) {
    if (f.number == normalizer_field::kName) settings.normalizer = f.bytes;
    if (f.number == normalizer_field::kAddDummyPrefix) settings.add_dummy_prefix = f.integer != 0;
    if (f.number == normalizer_field::kRemoveExtraWhitespaces) {
      settings.remove_extra_whitespaces = f.integer != 0;
    }
    if (f.number == normalizer_field::kEscapeWhitespaces)
      settings.escape_whitespaces = f.integer != 0;
  };
  sound = for_each_field(model,
                         [&](const ProtobufField& f) {
                           if (f.number == model_field::kPiece) {
                             any_piece = true;
                             sound = for_each_field(f.bytes, read_piece) && sound;
                           }
                           if (f.number == model_field::kTrainerSpec)
                             sound = for_each_field(f.bytes, read_trainer) && sound;
                           if (f.number == model_field::kNormalizerSpec) {
                             sound = for_each_field(f.bytes, read_normalizer) && sound;
                           }
                         }) &&
          sound;
  if (!sound || !any_piece) {
    throw UserError(format("{}: not a SentencePiece model", name));
  }
  return settings;
}

}  // namespace tandem
