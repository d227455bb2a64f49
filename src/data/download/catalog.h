// catalog: the corpora that `tandem get` knows: where their files lie and how to tell that they are
// right. The built-in ones are in known_corpora.cpp; a JSON file of the same form can add more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tandem {

struct CorpusFile {
  std::string name;  // under which it is stored; always a plain file name
  std::string url;
  std::optional<std::uint64_t> bytes;
  std::string sha256;  // "" when no trustworthy source tells it; never guessed
};

// A text of the corpus: on each side "FILE", or "ARCHIVE:MEMBER" for a file in a tar archive, the
// same number of them, read one after the other.
struct CorpusPart {
  std::string name;  // train, valid or test
  std::vector<std::string> src, tgt;
};

struct KnownCorpus {
  std::string name;
  std::string about;
  std::vector<CorpusFile> files;
  std::vector<std::string> next;  // shell commands that come after; {dir} stands for the folder
  std::vector<CorpusPart> parts;  // what `tandem prepare --from` makes a dataset of
};

std::vector<KnownCorpus> known_corpora();

// UserError with the nearest name when there is none.
const KnownCorpus& find_corpus(std::span<const KnownCorpus> corpora, std::string_view name);

// The form of --list --json and of --catalog. Reading refuses names that are not plain file names,
// addresses that are not http(s), hashes that are not 64 hex digits and parts of files that are not
// listed; where is for the message.
Json catalog_json(std::span<const KnownCorpus> corpora);
std::vector<KnownCorpus> parse_catalog(std::string_view text, std::string_view where);

// The file that tells what a downloaded folder holds.
inline constexpr std::string_view kCorpusFile = "corpus.json";

// Letters, digits and ._+- only, not hidden, and none of the names that a download itself uses:
// joined to a folder it cannot lead out of it.
bool is_plain_file_name(std::string_view name);
bool is_web_address(std::string_view url);

// What a shell reads back as the same word.
std::string shell_word(std::string_view text);
// The next commands with the folder filled in.
std::vector<std::string> next_commands(const KnownCorpus& corpus,
                                       const std::filesystem::path& folder);

}  // namespace tandem
