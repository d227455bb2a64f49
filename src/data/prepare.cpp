#include "data/prepare.h"

#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/ordered_pipeline.h"
#include "base/progress.h"
#include "base/rng.h"
#include "data/corpus_writer.h"
#include "data/dataset.h"
#include "data/word_cache.h"

namespace tandem {
namespace {

constexpr std::size_t kBlockPairs = 1024, kBlockBytes = 4 << 20;  // of text
// SentencePiece passes longer lines over when it trains.
constexpr std::size_t kLongestForVocab = 4192;

std::string side_name(const PairFiles& files, bool src) {
  if (!files.tsv.empty()) return files.tsv.string();
  return (src ? files.src : files.tgt).name();
}

std::string both_sides(const PairFiles& files) {
  if (!files.tsv.empty()) return files.tsv.string();
  return format("{} and {}", files.src.name(), files.tgt.name());
}

// Text is read several times: to count its lines, to train a vocabulary, to encode it.
void refuse_pipes(const PairFiles& files) {
  const auto refuse = [](const fs::path& file) {
    std::error_code none;
    const auto kind = fs::status(file, none).type();
    const bool comes_once = file == "-" || kind == fs::file_type::fifo ||
                            kind == fs::file_type::socket || kind == fs::file_type::character;
    if (!comes_once) return;
    if (fs::canonical(file, none) == "/dev/null") {
      throw UserError(format("{} is empty", file.string()));
    }
    throw UserError(
        format("{} can be read once only, and prepare reads text several times; write "
               "it to a file first",
               file == "-" ? "standard input" : file.string()));
  };
  if (!files.tsv.empty()) refuse(files.tsv);
  for (const TextFiles* side : {&files.src, &files.tgt}) {
    for (const TextPlace& place : side->places) refuse(place.file);
  }
}

void give_up_if(const std::atomic<bool>& stop) {
  if (stop) throw Interrupted("stopped before the dataset was complete; nothing was left behind");
}

std::uint64_t pair_hash(std::string_view src, std::string_view tgt) {
  return mix64(hash64(src)) ^ hash64(tgt);
}

// A random sample of the pairs, both sides of each, as lines to train a vocabulary on.
class VocabSample {
 public:
  VocabSample(const PrepareRequest& request, std::uint64_t pairs, const std::atomic<bool>& stop)
      : reader_(request.train),
        name_(both_sides(request.train)),
        rules_(request.rules),
        seed_(request.seed),
        share_(static_cast<double>(request.sample_pairs) / static_cast<double>(pairs)),
        stop_(stop) {}

  bool next(std::string& line) {
    if (tgt_waits_) {
      tgt_waits_ = false;
      line = tgt_;
      ++sentences_;
      return true;
    }
    for (RawPair pair; reader_.next(pair);) {
      give_up_if(stop_);
      const auto position = static_cast<double>(random_bits(seed_, 0, index_++) >> 11) * 0x1p-53;
      if (position >= share_) continue;
      ++chosen_;
      if (judge_text(pair, rules_) != Drop::kept) continue;
      if (std::max(pair.src.size(), pair.tgt.size()) > kLongestForVocab) continue;
      line = pair.src;
      tgt_ = pair.tgt;
      tgt_waits_ = true;
      ++sentences_;
      return true;
    }
    if (sentences_ == 0) refuse();
    return false;
  }
  std::uint64_t sentences() const { return sentences_; }

 private:
  [[noreturn]] void refuse() const {
    throw UserError(
        format("there is no text to train a vocabulary on: of {} pairs of {} none can be used, as "
               "prepare leaves them out or a side has more than {} bytes; {}",
               chosen_, name_, kLongestForVocab,
               share_ < 1 ? "take more pairs by --vocab-sample" : "give a vocabulary by --vocab"));
  }

  PairReader reader_;
  std::string name_;
  FilterRules rules_;
  std::uint64_t seed_, index_ = 0, chosen_ = 0, sentences_ = 0;
  double share_;  // of the pairs
  const std::atomic<bool>& stop_;
  std::string tgt_;
  bool tgt_waits_ = false;
};

// Pairs on their way from text to ids; one a thread, reused.
struct Block {
  struct Pair {
    std::size_t src_begin, src_size, tgt_begin, tgt_size;  // in text
    bool cut, no_tab;
    Drop drop;
    std::size_t ids_begin, src_ids, tgt_ids;  // in ids
    std::uint64_t hash, src_hash;
  };
  std::string text;
  std::vector<Pair> pairs;
  std::vector<std::int32_t> ids;

  RawPair raw(const Pair& p) const {
    const std::string_view all = text;
    return {all.substr(p.src_begin, p.src_size), all.substr(p.tgt_begin, p.tgt_size), p.cut,
            p.no_tab};
  }
  std::span<const std::int32_t> src_ids(const Pair& p) const {
    return std::span{ids}.subspan(p.ids_begin, p.src_ids);
  }
  std::span<const std::int32_t> tgt_ids(const Pair& p) const {
    return std::span{ids}.subspan(p.ids_begin + p.src_ids, p.tgt_ids);
  }
};

bool read_block(PairReader& reader, Block& block) {
  block.text.clear();
  block.pairs.clear();
  block.ids.clear();
  const auto has_room = [&] {
    return block.pairs.size() < kBlockPairs && block.text.size() < kBlockBytes;
  };
  for (RawPair pair; has_room() && reader.next(pair);) {
    const std::size_t begin = block.text.size();
    if (pair.cut) pair.src = pair.tgt = {};  // it is left out
    block.text.append(pair.src).append(pair.tgt);
    block.pairs.push_back({begin, pair.src.size(), begin + pair.src.size(), pair.tgt.size(),
                           pair.cut, pair.no_tab, Drop::kept, 0, 0, 0, 0, 0});
  }
  return !block.pairs.empty();
}

class BlockEncoder {
 public:
  BlockEncoder(const Vocab& vocab, const FilterRules& rules) : encoder_(vocab), rules_(rules) {}
  void operator()(Block& block) {
    for (Block::Pair& p : block.pairs) {
      const RawPair raw = block.raw(p);
      p.drop = judge_text(raw, rules_);
      if (p.drop != Drop::kept) continue;
      encoder_.encode(raw.src, src_);
      encoder_.encode(raw.tgt, tgt_);
      p.drop = judge_lengths(src_.size(), tgt_.size(), rules_);
      if (p.drop != Drop::kept) continue;
      p.ids_begin = block.ids.size();
      p.src_ids = src_.size();
      p.tgt_ids = tgt_.size();
      block.ids.insert(block.ids.end(), src_.begin(), src_.end());
      block.ids.insert(block.ids.end(), tgt_.begin(), tgt_.end());
      p.hash = pair_hash(raw.src, raw.tgt);
      p.src_hash = hash64(raw.src);
    }
  }

 private:
  WordCacheEncoder encoder_;
  FilterRules rules_;
  std::vector<std::int32_t> src_, tgt_;
};

void count_length(SideCard& side, std::size_t tokens) {
  side.tokens += tokens;
  const std::size_t bin = tokens / kHistogramBin;
  if (side.lengths.size() <= bin) side.lengths.resize(bin + 1);
  ++side.lengths[bin];
}

// Encodes one part into the folder; on_kept sees every pair that was kept, in order.
template <class OnKept>
PartCard encode_part(const PairFiles& files, std::uint64_t lines, const std::string& name,
                     const fs::path& folder, const Vocab& vocab, const FilterRules& rules,
                     std::size_t threads, const std::atomic<bool>& stop, OnKept on_kept) {
  PartCard card;
  card.lines = lines;
  card.src.file = side_name(files, true);
  card.tgt.file = side_name(files, false);
  PairReader reader(files);
  CorpusWriter writer(folder, name, vocab.facts());
  std::unordered_set<std::uint64_t> seen;
  Progress progress("encoding " + name, static_cast<double>(lines), "pairs");
  std::uint64_t pairs_done = 0;

  std::uint64_t line = 0;
  const auto write_pair = [&](const Block& block, const Block::Pair& p) {
    ++line;
    Drop drop = p.drop;
    if (drop == Drop::kept && rules.drop_duplicates && !seen.insert(p.hash).second) {
      drop = Drop::duplicate;
    }
    if (drop != Drop::kept) {
      const auto reason = static_cast<std::size_t>(drop);
      if (card.dropped[reason]++ == 0) card.first_dropped[reason] = line;
      return;
    }
    writer.add(block.src_ids(p), block.tgt_ids(p));
    count_length(card.src, p.src_ids);
    count_length(card.tgt, p.tgt_ids);
    on_kept(block, p);
  };
  ordered_pipeline<Block>(
      threads, [&](Block& block) { return read_block(reader, block); },
      [&] { return BlockEncoder(vocab, rules); },
      [&](Block& block) {
        give_up_if(stop);
        for (const Block::Pair& p : block.pairs) write_pair(block, p);
        pairs_done += block.pairs.size();
        progress.at(static_cast<double>(pairs_done));
      });

  card.pairs = writer.pairs();
  card.src.text_bytes = reader.src_text_bytes();
  card.tgt.text_bytes = reader.tgt_text_bytes();
  card.fingerprint = writer.finish();
  if (card.pairs == 0) {
    throw UserError(
        format("no pair of {} can be used: all {} were left out", both_sides(files), lines));
  }
  return card;
}

std::shared_ptr<const Vocab> make_vocab(const PrepareRequest& request, std::uint64_t pairs,
                                        const std::atomic<bool>& stop, DatasetCard& card) {
  if (!request.vocab.empty()) {
    auto vocab = Vocab::load(request.vocab);
    if (vocab->special_ids().bos < 0 || vocab->special_ids().eos < 0) {
      throw UserError(format("{} has no <s> or no </s>; train a model with bos_id and eos_id set",
                             request.vocab.string()));
    }
    return vocab;
  }
  VocabSample sample(request, pairs, stop);
  const Waiting shown(format("training a vocabulary of {} pieces", request.training.size), stop,
                      "tandem: stops when the vocabulary is trained; Ctrl-C again ends it at once");
  auto vocab = Vocab::from_bytes(
      train_vocab(request.training, [&](std::string& line) { return sample.next(line); }),
      "the trained vocabulary");
  card.vocab_sentences = sample.sentences();
  return vocab;
}

void write_file(const fs::path& folder, const std::string& name, std::string_view contents,
                DatasetCard& card) {
  FileWriter file(folder / name);
  file.write(contents);
  file.finish();
  card.file_hashes[name] = hash64(contents);
}

// One side alone, so that the sentence names the one that is bad.
std::string read_test_side(const TextFiles& side) {
  std::string text;
  TextReader reader(side);
  std::uint64_t number = 0;
  for (std::string_view line; reader.next(line);) {
    ++number;
    const Drop bad = judge_text({line, line, reader.was_cut()}, kValidationRules);
    if (bad != Drop::kept && bad != Drop::empty) {
      throw UserError(format("line {} of the test text {} cannot be used ({})", number, side.name(),
                             kDropNames[static_cast<std::size_t>(bad)]));
    }
    text.append(line).append("\n");
  }
  return text;
}

void copy_test_text(const PairFiles& files, const fs::path& folder, DatasetCard& card) {
  check(files.tsv.empty(), "test text as one file");
  write_file(folder, "test.src.txt", read_test_side(files.src), card);
  write_file(folder, "test.tgt.txt", read_test_side(files.tgt), card);
}

}  // namespace

DatasetCard prepare(const PrepareRequest& request, const std::atomic<bool>& stop) {
  if (request.replace) {
    if (const std::string reason = reason_not_to_replace(request.out); !reason.empty()) {
      throw UserError(format("{}: move it away, or name another folder", reason));
    }
  }
  if (!request.replace && fs::exists(request.out / "card.json")) {
    throw UserError(format("{} is a dataset already; name another folder or add --replace",
                           request.out.string()));
  }
  std::uint64_t train_lines = 0, valid_lines = 0;
  for (const PairFiles* files : {&request.train, &request.valid}) refuse_pipes(*files);
  {
    const Waiting shown("counting lines");
    train_lines = count_pairs(request.train);
    valid_lines = count_pairs(request.valid);
    if (request.test) count_pairs(*request.test);
  }
  StagedDirectory staged(request.out, request.replace);
  const fs::path& folder = staged.path();

  DatasetCard card;
  if (request.test) copy_test_text(*request.test, folder, card);  // judged before the long work
  const auto vocab = make_vocab(request, train_lines, stop, card);
  card.vocab_type = vocab->type();
  card.vocab_size = vocab->size();
  card.vocab_hash = vocab->hash();
  card.special = vocab->special_ids();
  write_file(folder, "vocab.model", vocab->model_bytes(), card);
  write_file(folder, "vocab.vocab", vocab->piece_table(), card);

  // The raw validation text goes along: BLEU is measured against it, not against decoded subwords.
  std::string valid_src, valid_tgt;
  std::unordered_set<std::uint64_t> valid_pairs, valid_sources;
  card.valid = encode_part(request.valid, valid_lines, "valid", folder, *vocab, kValidationRules,
                           request.threads, stop, [&](const Block& block, const Block::Pair& p) {
                             const RawPair raw = block.raw(p);
                             valid_src.append(raw.src).append("\n");
                             valid_tgt.append(raw.tgt).append("\n");
                             valid_pairs.insert(p.hash);
                             valid_sources.insert(p.src_hash);
                           });
  write_file(folder, "valid.src.txt", valid_src, card);
  write_file(folder, "valid.tgt.txt", valid_tgt, card);

  const std::size_t distinct_pairs = valid_pairs.size(), distinct_sources = valid_sources.size();
  card.train = encode_part(request.train, train_lines, "train", folder, *vocab, request.rules,
                           request.threads, stop, [&](const Block&, const Block::Pair& p) {
                             valid_pairs.erase(p.hash);
                             valid_sources.erase(p.src_hash);
                           });
  card.valid_pairs_in_train = distinct_pairs - valid_pairs.size();
  card.valid_sources_in_train = distinct_sources - valid_sources.size();

  write_card(folder, card);
  staged.commit();
  return card;
}

}  // namespace tandem
