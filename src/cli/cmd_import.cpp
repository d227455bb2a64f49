// tandem import: a model of another program as a model folder.
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/verbs.h"
#include "translate/export/import_huggingface.h"

namespace tandem {
namespace {

struct Options {
  std::string format = "huggingface", from, out;
};

}  // namespace

void add_import(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb("import", "Make a model folder of a MarianMT directory (transformers)");
  verb.positional("DIR", options->from, "directory with config.json and model.safetensors");
  verb.choice("--format", options->format, {"huggingface"}, "whose format it is");
  verb.option("--out", options->out, "model folder to write; it must not exist yet", true);
  verb.run([options] {
    import_huggingface(options->from, {options->out});
    std::fputs(format("wrote {}: translate, evaluate and serve take it as --model\n", options->out)
                   .c_str(),
               stdout);
    return ExitCode::ok;
  });
}

}  // namespace tandem
