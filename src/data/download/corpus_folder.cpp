#include "data/download/corpus_folder.h"

#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "data/download/checksum_list.h"

namespace tandem {
namespace {

TextPlace place_of(const fs::path& folder, const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {folder / text.substr(0, colon), colon < text.size() ? text.substr(colon + 1) : ""};
}

TextFiles side_of(const fs::path& folder, const std::vector<std::string>& texts) {
  TextFiles files;
  for (const std::string& text : texts) files.places.push_back(place_of(folder, text));
  return files;
}

const CorpusPart* find_part(const KnownCorpus& corpus, std::string_view name) {
  for (const CorpusPart& part : corpus.parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

std::optional<PairFiles> pair_files(const fs::path& folder, const CorpusPart* part) {
  if (part == nullptr) return std::nullopt;
  return PairFiles{side_of(folder, part->src), side_of(folder, part->tgt), {}};
}

void check_file(const fs::path& file, const ChecksumList& sums, const std::string& command) {
  const auto sum = sums.find(file.filename().string());
  std::error_code ignored;
  if (sum == sums.end() || !fs::exists(file, ignored)) {
    throw UserError(
        format("{} is not there, or was not downloaded whole: run {}", file.string(), command));
  }
  if (const std::string hash = sha256_of_file(file); hash != sum->second) {
    throw UserError(format("{} is damaged: its sha256 is {} and not {} as SHA256SUMS says: run {}",
                           file.string(), hash, sum->second, command));
  }
}

void check_files(const fs::path& folder, const KnownCorpus& corpus) {
  std::set<fs::path> files;
  for (const CorpusPart& part : corpus.parts) {
    for (const auto& side : {part.src, part.tgt}) {
      for (const std::string& text : side) files.insert(place_of(folder, text).file);
    }
  }
  const ChecksumList sums = read_checksums(folder / "SHA256SUMS");
  const Waiting shown("checking the downloaded files");
  const std::string command =
      format("tandem get {} --out {}", corpus.name, shell_word(folder.string()));
  for (const fs::path& file : files) check_file(file, sums, command);
}

}  // namespace

void write_corpus_folder(const fs::path& folder, const KnownCorpus& corpus) {
  atomic_write(folder / kCorpusFile, catalog_json(std::span(&corpus, 1)).dump(2) + "\n");
}

CorpusTexts read_corpus_folder(const fs::path& folder) {
  const fs::path path = folder / kCorpusFile;
  if (std::error_code ignored; !fs::exists(path, ignored)) {
    throw UserError(format(
        "{} is not there: --from takes a folder that tandem get has filled; run tandem get CORPUS "
        "--out {} (what is there is not downloaded again), or give --src and --tgt",
        path.string(), shell_word(folder.string())));
  }
  const std::vector<KnownCorpus> corpora = parse_catalog(read_file(path), path.string());
  if (corpora.size() != 1 || find_part(corpora[0], "train") == nullptr) {
    throw UserError(format("{} must hold one corpus with a part train", path.string()));
  }
  const KnownCorpus& corpus = corpora[0];
  check_files(folder, corpus);
  return {*pair_files(folder, find_part(corpus, "train")),
          pair_files(folder, find_part(corpus, "valid")),
          pair_files(folder, find_part(corpus, "test"))};
}

}  // namespace tandem
