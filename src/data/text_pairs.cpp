#include "data/text_pairs.h"

#include <future>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

std::uint64_t count_lines(const TextFiles& files) {
  TextReader reader(files);
  std::uint64_t lines = 0;
  for (std::string_view line; reader.next(line);) ++lines;
  return lines;
}

std::uint64_t not_empty(std::uint64_t lines, const TextFiles& files) {
  if (lines == 0) throw UserError(format("{} is empty", files.name()));
  return lines;
}

TextFiles only(const TextPlace& place) {
  TextFiles files;
  files.places = {place};
  return files;
}

std::uint64_t count_pairs_of(const TextFiles& src, const TextFiles& tgt) {
  // Deferred where the system refuses another thread: then the sides are read one by one.
  constexpr auto kBesideIfPossible = std::launch::async | std::launch::deferred;
  auto other = std::async(kBesideIfPossible, [&] { return count_lines(tgt); });
  const std::uint64_t src_lines = count_lines(src);
  const std::uint64_t tgt_lines = other.get();
  if (src_lines != tgt_lines) {
    throw UserError(
        format("{} has {} lines but {} has {}: they are not translations of each other "
               "line by line",
               src.name(), src_lines, tgt.name(), tgt_lines));
  }
  return not_empty(src_lines, src);
}

}  // namespace

std::uint64_t count_pairs(const PairFiles& files) {
  if (!files.tsv.empty()) return not_empty(count_lines(files.tsv), files.tsv);
  check(files.src.places.size() == files.tgt.places.size(), "sides of unequal numbers of files");
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < files.src.places.size(); ++i) {
    pairs += count_pairs_of(only(files.src.places[i]), only(files.tgt.places[i]));
  }
  return pairs;
}

PairReader::PairReader(const PairFiles& files)
    : files_(files), first_(files.tsv.empty() ? files.src : TextFiles(files.tsv)) {
  if (files.tsv.empty()) second_.emplace(files.tgt);
}

bool PairReader::next(RawPair& pair) {
  pair = {};
  const bool more = first_.next(pair.src);
  if (!second_) {
    if (!more) return false;
    pair.cut = first_.was_cut();
    const std::size_t tab = pair.src.find('\t');
    pair.no_tab = tab == std::string_view::npos;
    if (!pair.no_tab) {
      pair.tgt = pair.src.substr(tab + 1);
      pair.src = pair.src.substr(0, tab);
      tsv_tgt_bytes_ += pair.tgt.size() + 1;
      pair.tgt = pair.tgt.substr(0, pair.tgt.find('\t'));  // further columns: scores, sources
    }
    return true;
  }
  if (second_->next(pair.tgt) != more) {
    throw UserError(format("{} and {} end at different lines: they changed while they were read",
                           files_.src.name(), files_.tgt.name()));
  }
  pair.cut = more && (first_.was_cut() || second_->was_cut());
  return more;
}

std::uint64_t PairReader::src_text_bytes() const {
  return first_.text_bytes() - tsv_tgt_bytes_;
}

std::uint64_t PairReader::tgt_text_bytes() const {
  return second_ ? second_->text_bytes() : tsv_tgt_bytes_;
}

}  // namespace tandem
