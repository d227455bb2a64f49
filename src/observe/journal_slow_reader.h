// journal_slow_reader: a journal as trees of JSON, for tests: the slow and obvious twin of
// report/run_log_reader.h, ten times as large in memory as the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"

namespace tandem {

// Leaves out what a later `run` line with resumed_from supersedes.
inline std::vector<Json> lines_that_count(std::vector<Json> lines) {
  std::vector<Json> kept;
  for (Json& line : lines) {
    const Json* from = line.at("type").as_string() == "run" ? line.find("resumed_from") : nullptr;
    if (from != nullptr && !from->is_null()) {
      const std::int64_t step = from->as_int();
      std::erase_if(kept, [&](const Json& old) {
        const Json *at = old.find("step"), *kind = old.find("kind");
        if (kind != nullptr && kind->as_string() == "rollback") return false;
        return at != nullptr && at->as_int() > step;
      });
    }
    kept.push_back(std::move(line));
  }
  return kept;
}

// The lines that count, in order. Half a line at the end is left out.
inline std::vector<Json> read_journal(const fs::path& path) {
  const std::string text = read_file(path, kAnyFileBytes);
  std::vector<Json> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string where = format("{}:{}", path.string(), lines.size() + 1);
    lines.push_back(Json::parse(std::string_view(text).substr(begin, end - begin), where));
  }
  return lines_that_count(std::move(lines));
}

}  // namespace tandem
