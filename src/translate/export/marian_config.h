// marian_config: the settings of a MarianMT directory (transformers: config.json and, where they
// are there, tokenizer_config.json and generation_config.json). The files are taken as hostile. No
// Torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "config/run_config.h"

namespace tandem {

// One of the directory's JSON files; what it lacks, or has as null, has the value that transformers
// gives it.
class MarianFile {
 public:
  explicit MarianFile(fs::path path);

  const Json& json() const { return json_; }
  bool has(const char* key) const { return find(key) != nullptr; }
  std::int64_t number(const char* key) const;
  std::int64_t number(const char* key, std::int64_t otherwise) const;
  double fraction(const char* key, double otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const char* otherwise) const;
  // A value of this file, which its key names in the error.
  std::int64_t whole(std::string_view key, const Json& value) const;
  void need(bool good, const char* what) const {
    if (!good) fail(what);
  }
  [[noreturn]] void fail(std::string_view what) const;

 private:
  const Json* find(const char* key) const;  // null: not set
  template <class Value>
  auto read(std::string_view key, const Json& value, Value (Json::*as)() const) const;

  fs::path path_;
  Json json_;
};

// config: the directory's config.json. A model that tandem does not compute in the same way is a
// UserError that says what differs.
RunConfig marian_run(const fs::path& directory, const MarianFile& config);

}  // namespace tandem
