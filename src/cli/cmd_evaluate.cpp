// tandem evaluate: a model and two files to BLEU and chrF.
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/progress.h"
#include "cli/sentences_file.h"
#include "cli/translate_options.h"
#include "cli/verbs.h"
#include "translate/evaluate.h"

namespace tandem {
namespace {

struct Options {
  TranslateOptions common;
  std::string src, ref, out;
  bool lowercase = false, json = false;
};

void write_hypotheses(const std::string& path, const std::vector<std::string>& hypotheses) {
  std::string text;
  for (const std::string& hypothesis : hypotheses) text += hypothesis + "\n";
  atomic_write(path, text);
}

std::string json_text(const EvalScores& scores) {
  const auto metric = [](double score, const std::string& signature) {
    return Json::object().set("score", score).set("signature", signature);
  };
  return Json::object()
             .set("bleu", metric(scores.bleu.score, scores.bleu_signature))
             .set("chrf", metric(scores.chrf, scores.chrf_signature))
             .dump() +
         "\n";
}

std::string plain_text(const EvalScores& scores) {
  const std::string bleu = "BLEU|" + scores.bleu_signature, chrf = "chrF2|" + scores.chrf_signature;
  const std::size_t width = std::max(bleu.size(), chrf.size());
  return format("{:>{}} = {}\n{:>{}} = {:.1f}\n", bleu, width, bleu_text(scores.bleu, 1), chrf,
                width, scores.chrf);
}

// The translations would replace the text that they are made from or compared with.
void refuse_to_overwrite_texts(const Options& options) {
  for (const std::string& path : {options.src, options.ref}) {
    std::error_code absent;
    if (!fs::equivalent(options.out, path, absent)) continue;
    throw UserError(
        format("--out {} is the same file as {}, which would be overwritten; name another",
               options.out, path));
  }
}

ExitCode evaluate(const Options& options) {
  refuse_standard_input_twice({options.src, options.ref});
  if (!options.out.empty()) {
    refuse_to_overwrite_texts(options);
    check_can_write(options.out);
  }
  const TranslationModel model = open_model(options.common);
  TranslateSettings settings = settings_of(model, options.common);
  const auto sources = read_sentences(options.src, LineEnds::clean),
             references = read_sentences(options.ref);
  if (sources.size() != references.size()) {
    throw UserError(
        format("{} has {} lines but {} has {}; line i of one must be the translation "
               "of line i of the other",
               text_name(options.src), sources.size(), text_name(options.ref), references.size()));
  }
  if (sources.empty()) {
    throw UserError(format("{} is empty; there is nothing to translate", text_name(options.src)));
  }
  EvalScores scores;
  {
    Progress progress("evaluate", static_cast<double>(sources.size()), "lines");
    settings.on_progress = [&](std::size_t lines) { progress.at(static_cast<double>(lines)); };
    scores = evaluate_translations(*model.decoder, *model.vocab, sources, references, settings,
                                   options.lowercase);
  }
  if (!options.out.empty()) write_hypotheses(options.out, scores.hypotheses);
  std::fputs((options.json ? json_text(scores) : plain_text(scores)).c_str(), stdout);
  return ExitCode::ok;
}

}  // namespace

void add_evaluate(CommandLine& line) {
  Verb& verb =
      line.verb("evaluate", "BLEU and chrF2 of a model's translations, equal to sacreBLEU's");
  auto options = std::make_shared<Options>();
  add_translate_options(verb, options->common);
  verb.option("--src", options->src, "text to translate, one sentence a line; .gz too, - is stdin",
              true);
  verb.option("--ref", options->ref, "its reference, with as many lines", true);
  verb.option("--out", options->out, "file to write the translations to");
  verb.flag("--lowercase", options->lowercase, "ignore case, in both metrics");
  verb.flag("--json", options->json, "print one JSON object, scores in full precision");
  verb.run([options] { return evaluate(*options); });
}

}  // namespace tandem
