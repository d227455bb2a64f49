#include "data/download/catalog.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/suggest.h"

namespace tandem {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string text_or(const Json& object, std::string_view key, std::string_view absent) {
  const Json* const value = object.find(key);
  return value == nullptr || value->is_null() ? std::string(absent) : value->as_string();
}

CorpusFile file_from(const Json& json, std::string_view where) {
  CorpusFile file{json.at("name").as_string(), json.at("url").as_string(), std::nullopt,
                  text_or(json, "sha256", "")};
  if (!is_plain_file_name(file.name)) {
    throw UserError(format("{}: \"{}\" is not a plain file name", where, file.name));
  }
  if (!is_web_address(file.url)) {
    throw UserError(
        format("{}: the url of {} must begin with http:// or https://", where, file.name));
  }
  if (!file.sha256.empty() && !is_sha256_hex(file.sha256)) {
    throw UserError(
        format("{}: the sha256 of {} must be 64 lower-case hex digits or null", where, file.name));
  }
  const Json* const bytes = json.find("bytes");
  if (bytes != nullptr && !bytes->is_null()) {
    if (bytes->as_int() < 0) {
      throw UserError(format("{}: the bytes of {} must be 0 or more", where, file.name));
    }
    file.bytes = static_cast<std::uint64_t>(bytes->as_int());
  }
  return file;
}

std::vector<std::string> texts_from(const Json& json, const std::set<std::string>& files,
                                    std::string_view where) {
  std::vector<std::string> texts;
  for (const Json& item : json.items()) {
    texts.push_back(item.as_string());
    const std::string file = texts.back().substr(0, texts.back().find(':'));
    if (!files.contains(file)) {
      throw UserError(format("{}: a part names {}, which is not among the files", where, file));
    }
  }
  return texts;
}

CorpusPart corpus_part_from(const std::string& name, const Json& json,
                            const std::set<std::string>& files, std::string_view where) {
  if (name != "train" && name != "valid" && name != "test") {
    throw UserError(format("{}: a part is train, valid or test, not {}", where, name));
  }
  CorpusPart part{name, texts_from(json.at("src"), files, where),
                  texts_from(json.at("tgt"), files, where)};
  if (part.src.empty() || part.src.size() != part.tgt.size()) {
    throw UserError(format("{}: src and tgt of {} must list equally many texts", where, name));
  }
  return part;
}

Json parts_json(const std::vector<CorpusPart>& parts) {
  const auto list = [](const std::vector<std::string>& texts) {
    Json items = Json::array();
    for (const std::string& text : texts) items.push(text);
    return items;
  };
  Json json = Json::object();
  for (const CorpusPart& part : parts) {
    json.set(part.name, Json::object().set("src", list(part.src)).set("tgt", list(part.tgt)));
  }
  return json;
}

KnownCorpus corpus_from(const Json& json, std::string_view where) {
  KnownCorpus corpus{json.at("name").as_string(), text_or(json, "about", ""), {}, {}, {}};
  std::set<std::string> names;
  for (const Json& item : json.at("files").items()) {
    corpus.files.push_back(file_from(item, where));
    if (!names.insert(corpus.files.back().name).second) {
      throw UserError(
          format("{}: {} has two files named {}", where, corpus.name, corpus.files.back().name));
    }
  }
  if (const Json* const next = json.find("next")) {
    for (const Json& line : next->items()) corpus.next.push_back(line.as_string());
  }
  if (const Json* const parts = json.find("parts")) {
    for (const auto& [name, part] : parts->members()) {
      corpus.parts.push_back(corpus_part_from(name, part, names, where));
    }
  }
  return corpus;
}

}  // namespace

const KnownCorpus& find_corpus(std::span<const KnownCorpus> corpora, std::string_view name) {
  std::vector<std::string> names;
  for (const KnownCorpus& corpus : corpora) {
    if (corpus.name == name) return corpus;
    names.push_back(corpus.name);
  }
  const std::string meant = nearest_name(name, names);
  throw UserError(format("there is no corpus \"{}\"{}; tandem get knows {}", name,
                         meant.empty() ? "" : format(" (did you mean \"{}\"?)", meant),
                         join(names, ", ")));
}

Json catalog_json(std::span<const KnownCorpus> corpora) {
  Json list = Json::array();
  for (const KnownCorpus& corpus : corpora) {
    Json files = Json::array();
    for (const CorpusFile& file : corpus.files) {
      files.push(Json::object()
                     .set("name", file.name)
                     .set("url", file.url)
                     .set("bytes", file.bytes)
                     .set("sha256", file.sha256.empty() ? Json() : Json(file.sha256)));
    }
    Json next = Json::array();
    for (const std::string& line : corpus.next) next.push(line);
    list.push(Json::object()
                  .set("name", corpus.name)
                  .set("about", corpus.about)
                  .set("files", std::move(files))
                  .set("parts", parts_json(corpus.parts))
                  .set("next", std::move(next)));
  }
  return Json::object().set("corpora", std::move(list));
}

std::vector<KnownCorpus> parse_catalog(std::string_view text, std::string_view where) {
  const Json json = Json::parse(text, where);
  std::vector<KnownCorpus> corpora;
  for (const Json& item : json.at("corpora").items()) corpora.push_back(corpus_from(item, where));
  return corpora;
}

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name != "SHA256SUMS" && name != kCorpusFile &&
         !name.ends_with(".part") && !name.ends_with(".part.state") &&
         is_letter_or_digit(name.front()) && std::ranges::all_of(name, [](char c) {
           return is_letter_or_digit(c) ||
                  std::string_view("._+-").find(c) != std::string_view::npos;
         });
}

bool is_web_address(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) ||
           std::string_view("._+-/=:,@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> next_commands(const KnownCorpus& corpus,
                                       const std::filesystem::path& folder) {
  constexpr std::string_view kPlace = "{dir}";
  const std::string word = shell_word(folder.string());
  std::vector<std::string> lines = corpus.next;
  for (std::string& line : lines) {
    for (std::size_t at = 0; (at = line.find(kPlace, at)) != std::string::npos; at += word.size()) {
      line.replace(at, kPlace.size(), word);
    }
  }
  return lines;
}

}  // namespace tandem
