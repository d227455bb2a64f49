// tandem encode: text to subwords, as spm_encode does.
#include "base/cores.h"
#include "base/format.h"
#include "cli/line_filter.h"
#include "cli/verbs.h"
#include "data/vocab.h"
#include "data/word_cache.h"

namespace tandem {
namespace {

struct Options {
  std::string vocab;
  bool ids = false, bos = false, eos = false;
  std::int64_t threads = usable_cores();
};

LineAction encode_action(const Options& o, const Vocab& vocab) {
  const auto encoder = std::make_shared<WordCacheEncoder>(vocab);
  return [&o, &vocab, encoder, line_ids = std::vector<std::int32_t>{}](std::string_view line,
                                                                       std::string& out) mutable {
    std::string_view gap;
    const auto put = [&](std::string_view word) {
      out.append(gap).append(word);
      gap = " ";
    };
    const auto put_id = [&](std::int32_t id) { put(o.ids ? std::to_string(id) : vocab.piece(id)); };
    if (o.bos) put_id(vocab.special_ids().bos);
    if (o.ids) {
      encoder->encode(line, line_ids);
      for (const std::int32_t id : line_ids) put_id(id);
    } else {  // an unknown piece is shown as the text it stands for, so ids are not enough
      for (const std::string& piece : vocab.encode_as_pieces(line)) put(piece);
    }
    if (o.eos) put_id(vocab.special_ids().eos);
  };
}

}  // namespace

void add_encode(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("encode", "Split text into subwords, standard input to standard output");
  verb.option("--vocab", o->vocab, "SentencePiece .model", true);
  verb.flag("--ids", o->ids, "print ids instead of pieces");
  verb.flag("--bos", o->bos, "put the begin-of-sentence mark before each line");
  verb.flag("--eos", o->eos, "put the end-of-sentence mark behind each line");
  verb.option("--threads", o->threads, "threads", 1, 1024);
  verb.run([o] {
    const auto vocab = Vocab::load(o->vocab);
    if ((o->bos && vocab->special_ids().bos < 0) || (o->eos && vocab->special_ids().eos < 0)) {
      throw UserError(format("{} has no such mark; leave out --bos and --eos", o->vocab));
    }
    filter_lines(static_cast<std::size_t>(o->threads), [&] { return encode_action(*o, *vocab); });
    return ExitCode::ok;
  });
}

}  // namespace tandem
