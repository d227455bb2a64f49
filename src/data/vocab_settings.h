// vocab_settings: what a SentencePiece model file says of itself, beyond what the library tells.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

struct VocabSettings {
  std::string type = "unigram";  // trainer_spec.model_type
  std::string normalizer;        // normalizer_spec.name, e.g. "nmt_nfkc"
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool whitespace_as_suffix = false;
  bool has_user_defined_pieces = false;
};

// Throws UserError when the bytes are no SentencePiece model, or one that the library would read
// beyond its end (normalizer_table.h); name is the file's, for the message.
VocabSettings read_vocab_settings(std::string_view model, std::string_view name);

}  // namespace tandem
