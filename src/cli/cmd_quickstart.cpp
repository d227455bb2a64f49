// tandem quickstart: from nothing to a trained translator, on the built-in corpus. Every step is a
// command that is shown before it runs, so that a person can go on from any of them.
#include <ATen/Context.h>
#include <quickstart_config.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cstdio>

#include "base/cores.h"
#include "base/error.h"
#include "base/format.h"
#include "cli/own_program.h"
#include "cli/verbs.h"
#include "data/builtin/corpus.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kTrainPairs = 30000, kValidPairs = 1000, kTestPairs = 1000;
constexpr std::size_t kShown = 5;  // sentences that are translated at the end

struct Options {
  std::string out = "runs/quickstart";
  bool only_data = false;
};

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

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

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "tandem";
  for (const std::string& argument : arguments) text += " " + argument;
  return text;
}

// Two of them use two cores better than two threads of one; batches are too small for more.
int workers() {
  const int places = at::hasCUDA() ? static_cast<int>(torch::cuda::device_count()) : usable_cores();
  return std::clamp(places, 1, 2);
}

// Shows and runs a command. One that fails has said why.
void run(const std::vector<std::string>& arguments, const fs::path& standard_input = "/dev/null") {
  std::string text = "\n$ " + command_text(arguments);
  if (standard_input != "/dev/null") text += " < " + standard_input.string();
  say(text + "\n");
  const int code = run_own_program(arguments, standard_input);
  if (code == static_cast<int>(ExitCode::interrupted)) {
    throw Interrupted("quickstart was stopped; the same command goes on");
  }
  const std::string ended = format("quickstart ended early: `tandem {}` failed with exit code {}",
                                   arguments.front(), code);
  if (code == static_cast<int>(ExitCode::user)) throw UserError(ended);
  if (code != 0) throw EnvError(ended);
}

ExitCode quickstart(const Options& options) {
  const fs::path out = options.out, text = out / "text";
  const std::string data = (out / "data").string(), trained = (out / "run").string();
  const auto part = [&](const char* name) { return (text / name).string(); };
  make_directories(text);
  const BuiltinCorpus corpus = make_builtin_corpus(kSeed, kTrainPairs, kValidPairs, kTestPairs);
  write_part(text, "train", corpus.train);
  write_part(text, "valid", corpus.valid);
  write_part(text, "test", corpus.test);
  write_part(text, "five", {corpus.test.begin(), corpus.test.begin() + kShown});
  atomic_write(out / "config.yaml", kQuickstartConfig);
  say(format("English-German text in {}, for example:\n", text.string()));
  for (std::size_t i = 0; i < 3; ++i) {
    say(format("  {}\n  {}\n", corpus.train[i].src, corpus.train[i].tgt));
  }

  // Every letter and digit of the grammar is wanted, hence the coverage.
  run({"prepare", "--src", part("train.en"), "--tgt", part("train.de"), "--valid-src",
       part("valid.en"), "--valid-tgt", part("valid.de"), "--out", data, "--vocab-size", "3500",
       "--character-coverage", "1", "--replace"});
  const auto with_settings = [&](const char* verb) {
    return std::vector<std::string>{verb, (out / "config.yaml").string(), "data.path=" + data,
                                    "run=" + trained};
  };
  std::vector<std::string> train = with_settings("train");
  train.insert(train.end(), {"--workers", std::to_string(workers())});
  if (options.only_data) {
    say(format("\nNext:\n  tandem inspect {} --pairs 5\n  {}\n", data, command_text(train)));
    return ExitCode::ok;
  }
  // Alone, as no launcher starts it, but with the threads of one worker: its steps are of the kind
  // that the training's are.
  std::vector<std::string> check = with_settings("check");
  check.push_back(format("threads={}", usable_cores() / workers()));
  run(check);
  run(train);
  run({"evaluate", "--model", trained, "--src", part("test.en"), "--ref", part("test.de")});
  run({"translate", "--model", trained}, text / "five.en");
  run({"report", trained});

  say("\nThe sentences were, with the expected translation:\n");
  for (std::size_t i = 0; i < kShown; ++i) {
    say(format("  {}\n  {}\n", corpus.test[i].src, corpus.test[i].tgt));
  }
  say(format(
      "\nNext:\n"
      "  tandem translate --model {0}           type sentences yourself\n"
      "  {0}/report.html                        eleven answers about the run; or tandem watch {0}\n"
      "  tandem inspect {1} --pairs 5            look into the dataset\n"
      "  tandem config {2}/config.yaml          every setting of the run\n"
      "  tandem prepare --help                   your own text: two files, one sentence a line\n",
      trained, data, trained));
  return ExitCode::ok;
}

}  // namespace

void add_quickstart(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb("quickstart",
                         "Make a small English-German corpus, train on it for a minute or two, "
                         "translate");
  verb.option("--out", options->out, "folder for text, dataset and run");
  verb.flag("--only-data", options->only_data, "end when the dataset is prepared");
  verb.run([options] { return quickstart(*options); });
}

}  // namespace tandem
