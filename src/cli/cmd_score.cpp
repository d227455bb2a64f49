// tandem score: BLEU and chrF of a text against its references, as sacreBLEU gives them.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/cores.h"
#include "base/format.h"
#include "base/json.h"
#include "base/progress.h"
#include "cli/sentences_file.h"
#include "cli/verbs.h"
#include "translate/corpus_score.h"

namespace tandem {
namespace {

struct Options {
  std::string hyp;
  std::vector<std::string> refs;
  std::string tokenize = "13a", metric = "both";
  bool lowercase = false, sentence = false, json = false;
  std::int64_t width = 1;
  std::int64_t threads = usable_cores();
};

struct Texts {
  std::vector<std::string> hyps;
  std::vector<std::vector<std::string>> refs;
};

Texts read_texts(const Options& options) {
  std::vector<std::string> paths = options.refs;
  paths.push_back(options.hyp);
  refuse_standard_input_twice(paths);
  Texts texts{read_sentences(options.hyp), {}};
  for (const std::string& path : options.refs) {
    texts.refs.push_back(read_sentences(path));
    const std::size_t lines = texts.refs.back().size();
    if (lines == texts.hyps.size()) continue;
    throw UserError(
        format("{} has {} lines but {} has {}; line i of one must be the translation that line i "
               "of the other is a reference of",
               text_name(options.hyp), texts.hyps.size(), text_name(path), lines));
  }
  if (texts.hyps.empty()) {
    throw UserError(format("{} is empty; there is nothing to score", text_name(options.hyp)));
  }
  return texts;
}

// Forgotten detokenization is the commonest way to a wrong BLEU; sacreBLEU warns likewise.
void warn_if_tokenized(const std::vector<std::string>& hyps) {
  const auto tokenized =
      std::count_if(hyps.begin(), hyps.end(), [](const auto& h) { return h.ends_with(" ."); });
  if (tokenized < 100) return;
  std::fputs(format("tandem: warning: {} lines end in a separate \" .\": scores of text that was "
                    "not detokenized are not comparable\n",
                    tokenized)
                 .c_str(),
             stderr);
}

// The scores in the forms in which they are printed.
class ScorePrinter {
 public:
  ScorePrinter(const Options& options, ScoreOptions wanted, const CorpusStats& stats)
      : options_(options), wanted_(std::move(wanted)), stats_(stats) {}

  Json json() const {
    Json result = Json::object();
    if (wanted_.bleu) result.set("bleu", bleu_json());
    if (wanted_.chrf) result.set("chrf", chrf_json());
    if (wanted_.keep_sentences) result.set("sentences", sentences_json());
    return result;
  }

  // One line a metric, the equals signs below each other.
  std::string corpus_lines() const {
    std::vector<std::string> names, scores;
    if (wanted_.bleu) {
      const BleuScore bleu = bleu_score(stats_.bleu, false);
      names.push_back("BLEU|" + bleu_signature(*wanted_.bleu, options_.refs.size()));
      scores.push_back(bleu_text(bleu, decimals()));
    }
    if (wanted_.chrf) {
      names.push_back("chrF2|" + chrf_signature(*wanted_.chrf, options_.refs.size()));
      scores.push_back(format("{:.{}f}", chrf_score(stats_.chrf), decimals()));
    }
    std::size_t longest = 0;
    for (const auto& name : names) longest = std::max(longest, name.size());
    std::string lines;
    for (std::size_t i = 0; i < names.size(); ++i) {
      lines += format("{:>{}} = {}\n", names[i], longest, scores[i]);
    }
    return lines;
  }

  // One line a sentence and metric.
  void print_sentences() const {
    const std::string bleu_name = wanted_.bleu ? "BLEU|" + sentence_bleu_signature() : "";
    const std::string chrf_name =
        wanted_.chrf ? "chrF2|" + chrf_signature(*wanted_.chrf, options_.refs.size()) : "";
    for (std::size_t i = 0; i < sentences(); ++i) {
      std::string lines;
      if (wanted_.bleu) {
        const BleuScore score = bleu_score(stats_.bleu_sentences[i], true);
        lines += format("{} = {}\n", bleu_name, bleu_text(score, decimals()));
      }
      if (wanted_.chrf) {
        const double score = chrf_score(stats_.chrf_sentences[i]);
        lines += format("{} = {:.{}f}\n", chrf_name, score, decimals());
      }
      std::fputs(lines.c_str(), stdout);
    }
  }

 private:
  int decimals() const { return static_cast<int>(options_.width); }
  std::size_t sentences() const {
    return std::max(stats_.bleu_sentences.size(), stats_.chrf_sentences.size());
  }
  std::string sentence_bleu_signature() const {
    BleuOptions sentence = *wanted_.bleu;
    sentence.effective_order = true;
    return bleu_signature(sentence, options_.refs.size());
  }

  Json bleu_json() const {
    const BleuScore bleu = bleu_score(stats_.bleu, false);
    Json precisions = Json::array();
    for (const double precision : bleu.precisions) precisions.push(precision);
    Json result = Json::object();
    result.set("score", bleu.score)
        .set("signature", bleu_signature(*wanted_.bleu, options_.refs.size()))
        .set("precisions", std::move(precisions))
        .set("bp", bleu.brevity_penalty)
        .set("ratio", bleu.ratio)
        .set("hyp_len", bleu.stats.hyp_len)
        .set("ref_len", bleu.stats.ref_len);
    if (wanted_.keep_sentences) result.set("sentence_signature", sentence_bleu_signature());
    return result;
  }

  Json chrf_json() const {
    const std::string signature = chrf_signature(*wanted_.chrf, options_.refs.size());
    Json result = Json::object();
    result.set("score", chrf_score(stats_.chrf)).set("signature", signature);
    if (wanted_.keep_sentences) result.set("sentence_signature", signature);
    return result;
  }

  Json sentences_json() const {
    Json result = Json::array();
    for (std::size_t i = 0; i < sentences(); ++i) {
      Json sentence = Json::object();
      if (wanted_.bleu) sentence.set("bleu", bleu_score(stats_.bleu_sentences[i], true).score);
      if (wanted_.chrf) sentence.set("chrf", chrf_score(stats_.chrf_sentences[i]));
      result.push(std::move(sentence));
    }
    return result;
  }

  const Options& options_;
  ScoreOptions wanted_;
  const CorpusStats& stats_;
};

ExitCode score(const Options& options) {
  const Texts texts = read_texts(options);
  if (options.metric != "chrf") warn_if_tokenized(texts.hyps);

  ScoreOptions wanted;
  wanted.bleu = BleuOptions{tokenizer_named(options.tokenize), options.lowercase, false};
  wanted.chrf = ChrfOptions{options.lowercase};
  if (options.metric == "bleu") wanted.chrf.reset();
  if (options.metric == "chrf") wanted.bleu.reset();
  wanted.keep_sentences = options.sentence;
  wanted.threads = static_cast<std::size_t>(options.threads);
  CorpusStats stats;
  {
    Progress progress("score", static_cast<double>(texts.hyps.size()), "lines");
    wanted.on_progress = [&](std::size_t lines) { progress.at(static_cast<double>(lines)); };
    stats = count_corpus(texts.hyps, texts.refs, wanted);
  }

  const ScorePrinter printer(options, wanted, stats);
  if (options.json) {
    std::fputs((printer.json().dump() + "\n").c_str(), stdout);
  } else if (options.sentence) {
    printer.print_sentences();
  } else {
    std::fputs(printer.corpus_lines().c_str(), stdout);
  }
  return ExitCode::ok;
}

}  // namespace

void add_score(CommandLine& line) {
  Verb& verb = line.verb("score", "BLEU and chrF2 of a text, equal to sacreBLEU's");
  auto options = std::make_shared<Options>();
  verb.positional("HYP", options->hyp,
                  "the text to score, one sentence a line; .gz too, - is stdin");
  verb.positional("REF", options->refs, "its references, each with as many lines");
  verb.choice("--metric", options->metric, {"bleu", "chrf", "both"}, "what to compute");
  verb.choice("--tokenize", options->tokenize, {"13a", "intl", "none"}, "BLEU's tokenizer");
  verb.flag("--lowercase", options->lowercase, "ignore case, in both metrics");
  verb.flag("--sentence", options->sentence, "the score of each line (BLEU with effective order)");
  verb.flag("--json", options->json, "print one JSON object, scores in full precision");
  verb.option("--width", options->width, "decimals of the printed scores", 0, 12);
  verb.option("--threads", options->threads, "threads to use; the result does not depend on it", 1,
              1024);
  verb.run([options] { return score(*options); });
}

}  // namespace tandem
