// The built-in catalog: a table, nothing else.
#include "base/format.h"
#include "data/download/catalog.h"

namespace tandem {
namespace {

// The repository is named by commit, so that the files cannot change under their address. Sizes and
// hashes are of the files themselves.
KnownCorpus multi30k() {
  const auto file = [](std::string_view name, std::uint64_t bytes, std::string_view sha256) {
    return CorpusFile{std::string(name),
                      format("https://raw.githubusercontent.com/multi30k/dataset/"
                             "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/{}",
                             name),
                      bytes, std::string(sha256)};
  };
  return {
      "multi30k",
      "Multi30k task 1: 29 000 image captions, English and German, with val and test_2016_flickr",
      {file("train.en.gz", 568929,
            "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
       file("train.de.gz", 637044,
            "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
       file("val.en.gz", 21650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
       file("val.de.gz", 24681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
       file("test_2016_flickr.en.gz", 21077,
            "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
       file("test_2016_flickr.de.gz", 22890,
            "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8")},
      {"tandem prepare --from {dir} --vocab-size 6000 --out data/multi30k",
       "tandem train configs/multi30k-tiny.yaml --workers 2"},
      {{"train", {"train.en.gz"}, {"train.de.gz"}},
       {"valid", {"val.en.gz"}, {"val.de.gz"}},
       {"test", {"test_2016_flickr.en.gz"}, {"test_2016_flickr.de.gz"}}}};
}

// The archives behind the usual 4.5 million pairs: Europarl v7, Common Crawl, News Commentary v9,
// newstest2013 to validate, newstest2014 to test. Sizes and hashes of the training archives are
// those that TensorFlow Datasets publishes (url_checksums/wmt14_translate.txt); no public list has
// the other two.
KnownCorpus wmt14_en_de() {
  const std::string site = "https://www.statmt.org/";
  return {
      "wmt14-en-de",
      "WMT 2014 English-German: 4.5 million pairs in archives of 1.7 GB, with newstest2013 and "
      "2014",
      {{"training-parallel-europarl-v7.tgz", site + "wmt13/training-parallel-europarl-v7.tgz",
        657632379, "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7"},
       {"training-parallel-commoncrawl.tgz", site + "wmt13/training-parallel-commoncrawl.tgz",
        918311367, "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5"},
       {"training-parallel-nc-v9.tgz", site + "wmt14/training-parallel-nc-v9.tgz", 80418416,
        "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485"},
       {"dev.tgz", site + "wmt14/dev.tgz", std::nullopt, ""},
       {"test-full.tgz", site + "wmt14/test-full.tgz", std::nullopt, ""}},
      {"tandem prepare --from {dir} --vocab-size 32768 --drop-duplicates --out data/wmt14-en-de"},
      {{"train",
        {"training-parallel-europarl-v7.tgz:training/europarl-v7.de-en.en",
         "training-parallel-commoncrawl.tgz:commoncrawl.de-en.en",
         "training-parallel-nc-v9.tgz:training/news-commentary-v9.de-en.en"},
        {"training-parallel-europarl-v7.tgz:training/europarl-v7.de-en.de",
         "training-parallel-commoncrawl.tgz:commoncrawl.de-en.de",
         "training-parallel-nc-v9.tgz:training/news-commentary-v9.de-en.de"}},
       {"valid", {"dev.tgz:dev/newstest2013.en"}, {"dev.tgz:dev/newstest2013.de"}},
       {"test",
        {"test-full.tgz:test-full/newstest2014-deen-src.en.sgm"},
        {"test-full.tgz:test-full/newstest2014-deen-ref.de.sgm"}}}};
}

}  // namespace

std::vector<KnownCorpus> known_corpora() {
  return {multi30k(), wmt14_en_de()};
}

}  // namespace tandem
