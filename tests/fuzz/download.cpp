// What a server of corpora, or a folder of earlier downloads, says.
#include "base/error.h"
#include "data/download/catalog.h"
#include "data/download/checksum_list.h"
#include "data/download/http_rules.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

void read_any_download(std::string_view input) {
  const auto parts = split_parts(input, 3);
  if (const auto range = parse_content_range(parts[0])) {
    check(range->first <= range->last, "a range that ends before it begins");
    continues({206, "\"e\"", "", std::string(parts[0]), range->last},
              {"u", "\"e\"", "", range->total}, range->first);
  }
  const ChecksumList sums = parse_checksums(parts[1]);
  check(parse_checksums(checksums_text(sums)) == sums, "sums do not read back");
  const auto corpora = parse_catalog(parts[2], "x.json");
  for (const KnownCorpus& corpus : corpora) {
    next_commands(corpus, "folder");
    for (const CorpusFile& file : corpus.files) {
      check(is_plain_file_name(file.name) && is_web_address(file.url),
            "a name leads out of the folder");
    }
  }
}

std::vector<std::string> download_seeds() {
  const std::string sum(64, 'a');
  std::vector<KnownCorpus> corpora{{"multi",
                                    "about",
                                    {{"a.gz", "https://x.example/a.gz", 12, sum}},
                                    {"tandem prepare {dir}"},
                                    {{"train", {"a.gz:x.en"}, {"a.gz:x.de"}}}}};
  return {joined_parts(std::vector<std::string>{"bytes 100-199/200", sum + "  a.gz\n",
                                                catalog_json(corpora).dump()}),
          joined_parts(
              std::vector<std::string>{"bytes 0-0/*", "", catalog_json(known_corpora()).dump()})};
}

const FuzzTarget kDownloadTarget{"download", read_any_download, download_seeds};

}  // namespace
}  // namespace tandem
