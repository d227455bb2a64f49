#include "data/download/catalog.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/sha256.h"

namespace tandem {
namespace {

// A catalog with one file in which one field reads otherwise.
std::string catalog_with(std::string_view name, std::string_view url, std::string_view rest) {
  return R"({"corpora": [{"name": "c", "files": [{"name": ")" + std::string(name) +
         R"(", "url": ")" + std::string(url) + R"(")" + std::string(rest) + "}]}]}";
}

std::string complaint(const std::string& text) {
  try {
    parse_catalog(text, "my.json");
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST(Catalog, EveryBuiltInFileHasAPlainNameAnAddressAndAHashOrNone) {
  for (const KnownCorpus& corpus : known_corpora()) {
    std::set<std::string> names;
    for (const CorpusFile& file : corpus.files) {
      EXPECT_TRUE(is_plain_file_name(file.name)) << file.name;
      EXPECT_TRUE(names.insert(file.name).second) << file.name;
      EXPECT_TRUE(file.url.starts_with("https://")) << file.url;
      EXPECT_TRUE(file.url.ends_with("/" + file.name)) << file.url;
      EXPECT_TRUE(file.sha256.empty() || is_sha256_hex(file.sha256)) << file.name;
    }
    EXPECT_FALSE(corpus.next.empty());
  }
}

TEST(Catalog, WhatIsListedReadsBackTheSame) {
  const auto corpora = known_corpora();
  const std::string text = catalog_json(corpora).dump(2);
  EXPECT_EQ(catalog_json(parse_catalog(text, "text")).dump(2), text);
}

TEST(Catalog, AMistypedNameIsAnsweredWithTheNearest) {
  try {
    find_corpus(known_corpora(), "multi30");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"multi30k\"?"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("wmt14-en-de"), std::string::npos);
  }
}

TEST(Catalog, NoNameLeadsOutOfTheFolder) {
  for (const char* name :
       {"", ".", "..", "../x", "/etc/passwd", "a/b", ".hidden", "-rf", "a\\b", "a b", "a\nb",
        "SHA256SUMS", "corpus.json", "x.part", "x.part.state", "caf\u00e9"}) {
    EXPECT_FALSE(is_plain_file_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_file_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_plain_file_name("test_2016_flickr.en.gz"));
  EXPECT_NE(complaint(catalog_with("../x", "http://h/x", "")), "");
}

TEST(Catalog, ABadFieldIsNamedWithItsFile) {
  EXPECT_EQ(complaint(catalog_with("x", "http://h/x", "")), "");
  EXPECT_EQ(complaint(catalog_with("x", "http://h/x", R"(, "bytes": null, "sha256": null)")), "");
  for (const auto& text : {catalog_with("x", "file:///etc/passwd", ""),
                           catalog_with("x", "http://h/x", R"(, "sha256": "abc")"),
                           catalog_with("x", "http://h/x", R"(, "bytes": -1)")}) {
    EXPECT_NE(complaint(text).find("my.json"), std::string::npos) << text;
  }
  EXPECT_NE(complaint(R"({"corpora": [{"name": "c", "files": [
                         {"name": "x", "url": "http://h/x"}, {"name": "x", "url": "http://h/y"}]}]})"),
            "");
}

TEST(Catalog, EveryBuiltInPartNamesListedFilesOnBothSides) {
  for (const KnownCorpus& corpus : known_corpora()) {
    ASSERT_EQ(corpus.parts.size(), 3u) << corpus.name;
    for (const CorpusPart& part : corpus.parts) {
      EXPECT_EQ(part.src.size(), part.tgt.size()) << corpus.name << " " << part.name;
    }
  }
}

TEST(Catalog, ABadPartIsRefused) {
  const auto with_parts = [](std::string_view parts) {
    return R"({"corpora": [{"name": "c", "files": [{"name": "x.tgz", "url": "http://h/x.tgz"}],
               "parts": )" +
           std::string(parts) + "}]}";
  };
  EXPECT_EQ(complaint(with_parts(R"({"train": {"src": ["x.tgz:a"], "tgt": ["x.tgz"]}})")), "");
  for (const char* parts : {R"({"train": {"src": ["../x.tgz:a"], "tgt": ["x.tgz:b"]}})",
                            R"({"train": {"src": ["/etc/passwd"], "tgt": ["x.tgz:b"]}})",
                            R"({"train": {"src": ["x.tgz:a", "x.tgz:c"], "tgt": ["x.tgz:b"]}})",
                            R"({"train": {"src": [], "tgt": []}})",
                            R"({"other": {"src": ["x.tgz"], "tgt": ["x.tgz"]}})",
                            R"({"train": {"src": ["x.tgz"]}})", R"([1])"}) {
    EXPECT_NE(complaint(with_parts(parts)), "") << parts;
  }
}

TEST(Catalog, TheNextCommandsNameTheFolderAsOneShellWord) {
  const KnownCorpus corpus{"c", "", {}, {"run {dir}/a {dir}/b"}, {}};
  EXPECT_EQ(next_commands(corpus, "data")[0], "run data/a data/b");
  EXPECT_EQ(next_commands(corpus, "my data")[0], "run 'my data'/a 'my data'/b");
  EXPECT_EQ(next_commands(corpus, "it's")[0], "run 'it'\\''s'/a 'it'\\''s'/b");
  EXPECT_EQ(next_commands(corpus, "{dir}")[0], "run '{dir}'/a '{dir}'/b");
}

}  // namespace tandem
