// tandem quickstart: from nothing to a prepared dataset, on the built-in corpus.
#include <cstdio>
#include <thread>

#include "base/format.h"
#include "base/signals.h"
#include "cli/verbs.h"
#include "data/builtin/corpus.h"
#include "data/prepare.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kTrainPairs = 30000, kValidPairs = 1000, kTestPairs = 1000;

void write_part(const fs::path& folder, const std::string& part,
                const std::vector<SentencePair>& pairs) {
  std::string src, tgt;
  for (const SentencePair& pair : pairs) {
    src += pair.src + "\n";
    tgt += pair.tgt + "\n";
  }
  atomic_write(folder / (part + ".en"), src);
  atomic_write(folder / (part + ".de"), tgt);
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

ExitCode quickstart(const fs::path& out) {
  const StopSignals signals;
  const fs::path text = out / "text", data = out / "data";
  make_directories(text);
  const BuiltinCorpus corpus = make_builtin_corpus(kSeed, kTrainPairs, kValidPairs, kTestPairs);
  write_part(text, "train", corpus.train);
  write_part(text, "valid", corpus.valid);
  write_part(text, "test", corpus.test);
  say(format("English-German text in {}, for example:\n", text.string()));
  for (std::size_t i = 0; i < 3; ++i) {
    say(format("  {}\n  {}\n", corpus.train[i].src, corpus.train[i].tgt));
  }

  PrepareRequest request;
  request.train = {text / "train.en", text / "train.de", {}};
  request.valid = {text / "valid.en", text / "valid.de", {}};
  request.out = data;
  request.replace = true;
  request.training.size = 3500;
  request.training.character_coverage = 1.0;  // every letter and digit of the grammar is wanted
  request.threads = std::max(1u, std::thread::hardware_concurrency());
  request.training.threads = static_cast<std::int32_t>(request.threads);
  const DatasetCard card = prepare(request, signals.flag());
  const std::string run = (out / "run").string();
  say(
      format("\nThe dataset in {0}:\n{1}\nNext:\n"
             "  tandem inspect {0} --pairs 5\n"
             "  tandem train configs/quickstart.yaml data.path={0} run={2}\n"
             "  tandem translate --model {2} < {3}\n",
             data.string(), card_text(card), run, (text / "test.en").string()));
  return ExitCode::ok;
}

}  // namespace

void add_quickstart(CommandLine& line) {
  auto out = std::make_shared<std::string>("runs/quickstart");
  Verb& verb = line.verb("quickstart", "Make a small English-German corpus and prepare it");
  verb.option("--out", *out, "folder for the text and the dataset");
  verb.run([out] { return quickstart(*out); });
}

}  // namespace tandem
