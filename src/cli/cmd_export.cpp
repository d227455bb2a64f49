// tandem export: a model in another program's format.
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/verbs.h"
#include "translate/export/ctranslate2.h"
#include "translate/export/huggingface.h"

namespace tandem {
namespace {

struct Options {
  std::string model, format = "ctranslate2", out, quantization = "float32";
};

ExitCode export_as_told(const Options& options) {
  const bool int8 = options.quantization == "int8";
  if (int8 && options.format != "ctranslate2") {
    throw UserError("--quantization int8 is for --format ctranslate2; leave it out");
  }
  const TranslationModel model = open_translation_model(options.model, DeviceChoice::cpu);
  if (options.format == "ctranslate2") {
    export_ctranslate2(model, int8 ? NumberFormat::int8 : NumberFormat::float32, {options.out});
  } else {
    export_huggingface(model, {options.out});
  }
  std::fputs(format("wrote {}: {} for {}\n", options.out, model.folder.string(),
                    options.format == "ctranslate2" ? "CTranslate2" : "transformers (MarianMT)")
                 .c_str(),
             stdout);
  return ExitCode::ok;
}

}  // namespace

void add_export(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb("export", "Write a model in the format of CTranslate2 or transformers");
  verb.option("--model", options->model,
              "model folder, or the directory of a run (its model/, else its best)", true);
  verb.choice("--format", options->format, {"ctranslate2", "huggingface"},
              "ctranslate2: any model; huggingface: MarianMT, which knows post-norm models only");
  verb.option("--out", options->out, "folder to write; it must not exist yet", true);
  verb.choice("--quantization", options->quantization, {"float32", "int8"},
              "numbers of CTranslate2's matrices");
  verb.run([options] { return export_as_told(*options); });
}

}  // namespace tandem
