// tandem average: the mean of the best models of a run.
#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "cli/verbs.h"
#include "train/average.h"
#include "train/run_folder.h"

namespace tandem {
namespace {

struct Options {
  std::string run, out;
  std::int64_t best = 5;
};

std::vector<fs::path> best_models(const RunFolder& run, std::int64_t count) {
  std::vector<std::pair<BestModel, fs::path>> found;
  for (const auto& [folder, model] : run.list_best()) found.emplace_back(model, folder);
  if (found.empty()) {
    throw UserError(
        format("{} holds no models; name a run that was evaluated, with "
               "checkpoint.best above 0",
               run.best().string()));
  }
  std::ranges::sort(found, {}, [](const auto& entry) {
    return std::pair(entry.first.val_loss, entry.first.step);
  });
  found.resize(std::min(found.size(), static_cast<std::size_t>(count)));
  std::vector<fs::path> folders;
  for (const auto& [model, folder] : found) folders.push_back(folder);
  return folders;
}

}  // namespace

void add_average(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("average", "Average the weights of the best models of a run");
  verb.option("--run", o->run, "directory of the run", true);
  verb.option("--best", o->best, "how many of its best models by validation loss", 1, 10000);
  verb.option("--out", o->out, "folder to write the model to", true);
  verb.run([o] {
    const auto models = best_models(RunFolder(o->run), o->best);
    average_models(models, o->out);
    std::string text;
    for (const fs::path& model : models) text += format("{}\n", model.string());
    text += format("wrote {}: the mean of these {}\n", o->out, models.size());
    std::fputs(text.c_str(), stdout);
    return ExitCode::ok;
  });
}

}  // namespace tandem
