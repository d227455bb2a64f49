// tandem get: downloads a known corpus.
#include <cstdio>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/progress.h"
#include "base/scaled_text.h"
#include "base/signals.h"
#include "cli/verbs.h"
#include "data/download/catalog.h"
#include "data/download/corpus_download.h"

namespace tandem {
namespace {

struct GetOptions {
  std::string corpus, out, mirror, catalog;
  bool list = false, json = false;
  DownloadOptions download;
};

constexpr double kMegabyte = 1e6;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

// The bar of one file. It measures what this call downloads, so that a continued file does not
// show a speed it never had.
class FileProgress {
 public:
  explicit FileProgress(std::string name) : name_(std::move(name)) {}
  void at(std::uint64_t done, std::uint64_t total) {
    if (!bar_ || done < begin_) {
      begin_ = done;
      bar_.emplace(name_, total > done ? static_cast<double>(total - done) / kMegabyte : 0, "MB");
    }
    bar_->at(static_cast<double>(done - begin_) / kMegabyte);
  }
  void interrupt() { bar_.reset(); }

 private:
  std::string name_;
  std::uint64_t begin_ = 0;
  std::optional<Progress> bar_;
};

DownloadEvents watch(const CorpusFile& file) {
  const auto progress = std::make_shared<FileProgress>(file.name);
  return {[progress](std::uint64_t done, std::uint64_t total) { progress->at(done, total); },
          [progress](const std::string& sentence) {
            progress->interrupt();
            std::fputs(format("tandem: {}\n", sentence).c_str(), stderr);
          }};
}

std::string status_of(const CorpusFileResult& result) {
  return result.already_there ? "already there" : "downloaded";
}

void print_result(const CorpusFileResult& result) {
  print(format("{}: {}, {}, {}\n", result.file->name, status_of(result),
               bytes_text(static_cast<double>(result.download.bytes)),
               result.verified ? "sha256 is right"
                               : format("could not be verified, its sha256 {} is in SHA256SUMS",
                                        result.download.sha256)));
  std::fflush(stdout);
}

Json result_json(const KnownCorpus& corpus, const std::string& out,
                 const std::vector<CorpusFileResult>& results) {
  Json files = Json::array();
  for (const CorpusFileResult& result : results) {
    files.push(Json::object()
                   .set("name", result.file->name)
                   .set("status", status_of(result))
                   .set("bytes", result.download.bytes)
                   .set("bytes_received", result.download.bytes_received)
                   .set("sha256", result.download.sha256)
                   .set("verified", result.verified));
  }
  Json next = Json::array();
  for (const std::string& line : next_commands(corpus, out)) next.push(line);
  return Json::object()
      .set("corpus", corpus.name)
      .set("out", out)
      .set("files", std::move(files))
      .set("next", std::move(next));
}

void print_list(std::span<const KnownCorpus> corpora) {
  for (const KnownCorpus& corpus : corpora) {
    print(format("{}: {}\n", corpus.name, corpus.about));
    for (const CorpusFile& file : corpus.files) {
      print(format("  {}\n    {}, sha256 {}\n", file.url,
                   file.bytes ? bytes_text(static_cast<double>(*file.bytes)) : "size not known",
                   file.sha256.empty() ? "not known" : file.sha256));
    }
  }
}

ExitCode list(const GetOptions& options, std::span<const KnownCorpus> corpora) {
  if (!options.corpus.empty()) corpora = std::span(&find_corpus(corpora, options.corpus), 1);
  if (options.json) {
    print(catalog_json(corpora).dump(2) + "\n");
  } else {
    print_list(corpora);
  }
  return ExitCode::ok;
}

void check_options(const GetOptions& options) {
  if (options.corpus.empty()) {
    throw UserError("tandem get needs the name of a corpus; tandem get --list shows them");
  }
  if (options.out.empty()) throw UserError("tandem get needs --out: the folder for the files");
  if (!options.mirror.empty() && !is_web_address(options.mirror)) {
    throw UserError(format("--mirror {} must begin with http:// or https://", options.mirror));
  }
}

ExitCode get(const GetOptions& options) {
  std::vector<KnownCorpus> corpora = known_corpora();
  if (!options.catalog.empty()) {
    corpora = parse_catalog(read_file(options.catalog), options.catalog);
  }
  if (options.list) return list(options, corpora);
  check_options(options);
  const KnownCorpus& corpus = find_corpus(corpora, options.corpus);

  const StopSignals signals;
  const auto end = [&](const CorpusFileResult& result) {
    if (!options.json) print_result(result);
  };
  const auto results = download_corpus(corpus, options.out, options.mirror, options.download,
                                       signals.flag(), {watch, end});
  if (options.json) {
    print(result_json(corpus, options.out, results).dump(2) + "\n");
  } else if (!corpus.next.empty()) {
    print(format("next:\n  {}\n", join(next_commands(corpus, options.out), "\n  ")));
  }
  return ExitCode::ok;
}

}  // namespace

void add_get(CommandLine& line) {
  const auto options = std::make_shared<GetOptions>();
  Verb& verb = line.verb("get", "Download a public corpus, verified, going on where it stopped");
  verb.positional("CORPUS", options->corpus, "multi30k or wmt14-en-de", false);
  verb.option("--out", options->out, "folder for the files; it is made when absent");
  verb.option("--mirror", options->mirror,
              "address of a folder that holds the files under the same names");
  verb.option(
      "--catalog", options->catalog,
      "JSON file with corpora to use instead of the built-in ones, as --list --json prints");
  verb.option("--retries", options->download.retries,
              "attempts in a row that may fail without getting further", 0, 1000);
  verb.option("--retry-seconds", options->download.first_wait_seconds,
              "wait before the first retry, in seconds; doubles up to 30", 0, 30);
  verb.option("--stall-seconds", options->download.stall_seconds,
              "silence, or under 100 bytes a second, after which a connection is given up", 1,
              3600);
  verb.flag("--list", options->list, "show the known corpora and do nothing");
  verb.flag("--json", options->json, "print one JSON object");
  verb.run([options] { return get(*options); });
}

}  // namespace tandem
