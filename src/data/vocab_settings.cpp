#include "data/vocab_settings.h"

#include <array>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/protobuf.h"
#include "data/normalizer_table.h"

namespace tandem {
namespace {

// Field numbers of SentencePiece's published schema (sentencepiece_model.proto).
namespace model_field {
constexpr std::uint32_t kPiece = 1, kTrainerSpec = 2, kNormalizerSpec = 3, kDenormalizerSpec = 5;
}
namespace piece_field {
constexpr std::uint32_t kText = 1, kType = 3;
constexpr std::uint32_t kUserDefined = 4;
}  // namespace piece_field
namespace trainer_field {
constexpr std::uint32_t kModelType = 3, kWhitespaceAsSuffix = 24;
}
namespace normalizer_field {
constexpr std::uint32_t kName = 1, kTable = 2, kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4,
                        kEscapeWhitespaces = 5;
}

// The library's room for pieces of one's own that a text begins with.
constexpr std::size_t kMostUserPiecesAtOnce = 64;

constexpr std::array<const char*, 5> kTypes = {"?", "unigram", "bpe", "word", "char"};

// A model file, field by field.
class ModelReader {
 public:
  // False: it is no model, or one that the library would read beyond its end.
  bool read(std::string_view model) {
    sound_ = for_each_field(model, [this](const ProtobufField& f) { part(f); }) && sound_;
    return sound_ && any_piece_ && most_at_once(user_pieces_) <= kMostUserPiecesAtOnce;
  }
  const VocabSettings& settings() const { return settings_; }

 private:
  template <class Visit>
  void visit(std::string_view message, Visit visit_field) {
    sound_ = for_each_field(message, visit_field) && sound_;
  }

  void part(const ProtobufField& f) {
    if (f.number == model_field::kPiece) piece(f.bytes);
    if (f.number == model_field::kTrainerSpec) {
      visit(f.bytes, [this](const ProtobufField& inner) { trainer(inner); });
    }
    if (f.number == model_field::kNormalizerSpec) {
      visit(f.bytes, [this](const ProtobufField& inner) { normalizer(inner); });
    }
    if (f.number == model_field::kDenormalizerSpec) {
      visit(f.bytes, [this](const ProtobufField& inner) { table(inner); });
    }
  }

  void piece(std::string_view message) {
    std::string_view text;
    bool user_defined = false;
    visit(message, [&](const ProtobufField& f) {
      if (f.number == piece_field::kText) text = f.bytes;
      if (f.number == piece_field::kType) {
        user_defined = static_cast<std::uint32_t>(f.integer) == piece_field::kUserDefined;
      }
    });
    any_piece_ = true;
    if (!user_defined) return;
    settings_.has_user_defined_pieces = true;
    user_pieces_.push_back(text);
  }

  void trainer(const ProtobufField& f) {
    if (f.number == trainer_field::kModelType && f.integer < kTypes.size()) {
      settings_.type = kTypes[f.integer];
    }
    if (f.number == trainer_field::kWhitespaceAsSuffix) {
      settings_.whitespace_as_suffix = f.integer != 0;
    }
  }

  void normalizer(const ProtobufField& f) {
    table(f);
    if (f.number == normalizer_field::kName) settings_.normalizer = f.bytes;
    if (f.number == normalizer_field::kAddDummyPrefix) settings_.add_dummy_prefix = f.integer != 0;
    if (f.number == normalizer_field::kRemoveExtraWhitespaces) {
      settings_.remove_extra_whitespaces = f.integer != 0;
    }
    if (f.number == normalizer_field::kEscapeWhitespaces) {
      settings_.escape_whitespaces = f.integer != 0;
    }
  }

  void table(const ProtobufField& f) {
    if (f.number == normalizer_field::kTable) sound_ = is_safe_normalizer_table(f.bytes) && sound_;
  }

  VocabSettings settings_;
  bool sound_ = true, any_piece_ = false;
  std::vector<std::string_view> user_pieces_;
};

}  // namespace

VocabSettings read_vocab_settings(std::string_view model, std::string_view name) {
  ModelReader reader;
  if (!reader.read(model)) throw UserError(format("{}: not a SentencePiece model", name));
  return reader.settings();
}

}  // namespace tandem
