#include "data/vocab.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <random>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/vocab_settings.h"

// The generator that sampling draws from, one a thread. The library has it, but declares it in a
// header that is not installed; its public SetRandomGeneratorSeed only seeds generators that were
// not used yet, while here every sentence needs a seed of its own.
namespace sentencepiece::random {
std::mt19937* GetRandomGenerator();
}

namespace tandem {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, SentencePiece's visible space

// Words are independent when merges cannot look across a space (BPE, no piece with a space inside),
// every word begins with the space mark, and normalisation is one of SentencePiece's own, none of
// which joins characters across a space. Unigram sums scores over the line in floats: ties could
// fall differently, so its lines are always encoded whole.
bool independent_words(const VocabSettings& settings,
                       const sentencepiece::SentencePieceProcessor& processor) {
  static const std::set<std::string> kKnown = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf",
                                               "identity"};
  if (settings.type != "bpe" || !kKnown.contains(settings.normalizer)) return false;
  if (!settings.add_dummy_prefix || !settings.remove_extra_whitespaces) return false;
  if (!settings.escape_whitespaces || settings.whitespace_as_suffix) return false;
  if (settings.has_user_defined_pieces) return false;
  if (processor.IsUnknown(processor.PieceToId(std::string(kSpaceMark)))) return false;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    if (processor.IdToPiece(id).find(kSpaceMark, 1) != std::string::npos) return false;
  }
  return true;
}

void expect_ok(const sentencepiece::util::Status& status) {
  check(status.ok(), status.ToString());
}

// SentencePiece's own sentence without the source line and the condition before it, and in our
// options' names where its advice contradicts ours.
std::string why_not_trained(const VocabTraining& training, std::string text) {
  if (const std::size_t end = text.rfind("] "); end != text.npos) text.erase(0, end + 2);
  const std::size_t versus = text.find(" vs ");
  if (text.find("smaller than required_chars") == text.npos || versus == text.npos) {
    return format(
        "cannot train a vocabulary of {} pieces on this text ({}); try a smaller "
        "--vocab-size or more text",
        training.size, text);
  }
  const std::size_t number = versus + 4;
  const std::string needed =
      text.substr(number, text.find_first_not_of("0123456789", number) - number);
  return format(
      "a vocabulary of {} pieces is too small for this text, whose characters alone need "
      "{}; set a larger --vocab-size or a lower --character-coverage",
      training.size, needed);
}

// What is wrong; empty: nothing. Of some damaged models the library throws instead.
std::string why_not_loaded(sentencepiece::SentencePieceProcessor& processor,
                           const std::string& bytes) try {
  const auto status = processor.LoadFromSerializedProto(bytes);
  return status.ok() ? "" : status.ToString();
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& thrown) {
  return thrown.what();
}

}  // namespace

struct Vocab::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

Vocab::Vocab(std::string bytes, const std::string& name)
    : impl_(std::make_unique<Impl>()), bytes_(std::move(bytes)), hash_(hash64(bytes_)) {
  const VocabSettings settings = read_vocab_settings(bytes_, name);
  auto& processor = impl_->processor;
  const std::string problem = why_not_loaded(processor, bytes_);
  if (!problem.empty()) {
    throw UserError(format("{}: not a SentencePiece model that can be used ({})", name, problem));
  }
  type_ = settings.type;
  special_ = {processor.pad_id(), processor.bos_id(), processor.eos_id(), processor.unk_id()};
  words_are_independent_ = independent_words(settings, processor);
}

Vocab::~Vocab() = default;

std::shared_ptr<const Vocab> Vocab::load(const std::filesystem::path& model) {
  return from_bytes(read_file(model), model.string());
}

std::shared_ptr<const Vocab> Vocab::from_bytes(std::string model, const std::string& name) {
  return std::shared_ptr<const Vocab>(new Vocab(std::move(model), name));
}

void Vocab::encode(std::string_view line, std::vector<std::int32_t>& ids) const {
  static_assert(std::is_same_v<std::int32_t, int>);
  expect_ok(impl_->processor.Encode(line, &ids));
}

std::vector<std::string> Vocab::encode_as_pieces(std::string_view line) const {
  std::vector<std::string> pieces;
  expect_ok(impl_->processor.Encode(line, &pieces));
  return pieces;
}

std::string Vocab::decode(std::span<const std::int32_t> ids) const {
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= size()) {
      throw UserError(format("id {} is outside the vocabulary of {} pieces", id, size()));
    }
  }
  std::string text;
  expect_ok(impl_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text));
  return text;
}

std::string Vocab::joined_pieces(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) text += piece(id);
  return text;
}

bool Vocab::sample(std::span<const std::int32_t> ids, const SubwordSampling& sampling,
                   std::uint64_t key, std::vector<std::int32_t>& sampled) const {
  for (const std::int32_t id : ids) {
    if (id == special_.unk) return false;
  }
  sentencepiece::random::GetRandomGenerator()->seed(static_cast<std::uint32_t>(key));
  expect_ok(impl_->processor.SampleEncode(decode(ids), sampling.nbest.value_or(-1),
                                          static_cast<float>(sampling.alpha), &sampled));
  // Normalising text that was normalised before could still change it, in a model of one's own.
  return joined_pieces(sampled) == joined_pieces(ids);
}

std::string Vocab::decode_pieces(const std::vector<std::string>& pieces) const {
  std::string text;
  expect_ok(impl_->processor.Decode(pieces, &text));
  return text;
}

std::int32_t Vocab::size() const {
  return impl_->processor.GetPieceSize();
}

const std::string& Vocab::piece(std::int32_t id) const {
  return impl_->processor.IdToPiece(id);
}

std::string Vocab::piece_table() const {
  std::string table;
  for (std::int32_t id = 0; id < size(); ++id) {
    table += format("{}\t{:g}\n", piece(id), impl_->processor.GetScore(id));
  }
  return table;
}

std::string train_vocab(const VocabTraining& training,
                        const std::function<bool(std::string& line)>& next_line) {
  // The library's iterator holds a value; ours is a function that fills one.
  class Lines : public sentencepiece::SentenceIterator {
   public:
    explicit Lines(const std::function<bool(std::string&)>& next_line) : next_line_(next_line) {
      Lines::Next();
    }
    bool done() const override { return done_; }
    void Next() override { done_ = !next_line_(line_); }
    const std::string& value() const override { return line_; }
    sentencepiece::util::Status status() const override { return {}; }

   private:
    const std::function<bool(std::string&)>& next_line_;
    std::string line_;
    bool done_ = false;
  } lines(next_line);

  check(!lines.done(), "a vocabulary of no text");
  // The library writes this number into the model, and unigram's sums over text are made thread by
  // thread, so it decides over pieces, too: it must not be the machine's. BPE has threads for
  // normalising only, a small part of its time.
  const std::int32_t threads = training.type == "unigram" ? 16 : 1;
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      std::unordered_map<std::string, std::string>{
          {"model_type", training.type},
          {"vocab_size", std::to_string(training.size)},
          {"character_coverage", format("{}", training.character_coverage)},
          {"num_threads", std::to_string(threads)},
          {"pad_id", "0"},
          {"bos_id", "1"},
          {"eos_id", "2"},
          {"unk_id", "3"},
          {"input_sentence_size", "0"},  // the sample is ours
          {"hard_vocab_limit", "false"},
          {"train_extremely_large_corpus", "false"},
          {"minloglevel", "2"},
      },
      &lines, &model);
  if (!status.ok()) throw UserError(why_not_trained(training, status.ToString()));
  return model;
}

}  // namespace tandem
