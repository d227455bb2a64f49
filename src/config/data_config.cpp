#include "config/data_config.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr double kMostTimes = 1000;  // that a pair comes in an epoch

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

struct ReadCorpora {
  std::vector<CorpusWeight> corpora;
  std::string problem;
};

// "DIR:2.5", or "DIR" for once.
std::string read_corpus(std::string_view text, CorpusWeight& corpus) {
  const std::size_t colon = text.rfind(':');
  corpus.path = without_spaces(text.substr(0, colon));
  if (corpus.path.empty()) return "has an entry without a directory; write DIR:WEIGHT, DIR:WEIGHT";
  if (colon == std::string_view::npos) return {};
  const std::string_view number = without_spaces(text.substr(colon + 1));
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), corpus.weight);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (whole && corpus.weight >= 0.001 && corpus.weight <= kMostTimes) return {};
  return format("gives {} the weight {}, but it may be 0.001 to {}", corpus.path, in_quotes(number),
                kMostTimes);
}

ReadCorpora read_corpora(const DataConfig& config) {
  if (!config.corpora) return {{{config.path, 1}}, {}};
  ReadCorpora read;
  std::string_view rest = *config.corpora;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    CorpusWeight corpus;
    read.problem = read_corpus(rest.substr(0, comma), corpus);
    if (!read.problem.empty()) return read;
    if (std::ranges::find(read.corpora, corpus.path, &CorpusWeight::path) != read.corpora.end()) {
      read.problem = format("names {} twice; give it one weight", corpus.path);
      return read;
    }
    read.corpora.push_back(std::move(corpus));
    if (more) rest.remove_prefix(comma + 1);
  }
  return read;
}

}  // namespace

std::vector<CorpusWeight> corpora_of(const DataConfig& config) {
  ReadCorpora read = read_corpora(config);
  check(read.problem.empty(), "data.corpora was not checked");
  return std::move(read.corpora);
}

std::string corpora_problem(const DataConfig& config) {
  return read_corpora(config).problem;
}

std::vector<std::string> dataset_folders(const DataConfig& config) {
  std::vector<std::string> folders{config.path};
  for (const CorpusWeight& corpus : corpora_of(config)) {
    if (corpus.path != config.path) folders.push_back(corpus.path);
  }
  return folders;
}

}  // namespace tandem
