#include "data/text_reader.h"

#include "base/error.h"
#include "base/format.h"
#include "base/tar_member.h"

namespace tandem {
namespace {

std::string place_name(const TextPlace& place) {
  return place.file.string() + (place.member.empty() ? "" : ":" + place.member);
}

std::string one_blank_between_words(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n\v\f";
  std::string out;
  for (std::size_t at = 0; (at = text.find_first_not_of(kWhite, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kWhite, at), text.size());
    if (!out.empty()) out += ' ';
    out += text.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace

std::string TextFiles::name() const {
  std::string all;
  for (const TextPlace& place : places) all += (all.empty() ? "" : " + ") + place_name(place);
  return all;
}

TextReader::TextReader(TextFiles files) : files_(std::move(files)) {
  check(next_place(), "a text without any file");
}

bool TextReader::next_place() {
  if (places_begun_ == files_.places.size()) return false;
  if (lines_) earlier_bytes_ += lines_->text_bytes();
  const TextPlace& place = files_.places[places_begun_++];
  sgm_ = (place.member.empty() ? place.file.string() : place.member).ends_with(".sgm");
  if (place.member.empty()) {
    lines_.emplace(place.file);
  } else {
    lines_.emplace(open_member(place.file, place.member));
  }
  return true;
}

bool TextReader::next(std::string_view& line) {
  do {
    if (sgm_ ? next_segment(line) : lines_->next(line)) return true;
  } while (next_place());
  return false;
}

bool TextReader::next_segment(std::string_view& line) {
  constexpr std::string_view kBegin = "<seg", kEnd = "</seg>";
  while (lines_->next(line)) {
    if (!line.starts_with(kBegin)) continue;
    const std::size_t begin = line.find('>');
    const std::size_t end = line.rfind(kEnd);
    if (!lines_->was_cut() &&
        (begin == std::string_view::npos || end == std::string_view::npos || end < begin)) {
      throw UserError(format("{} line {}: the segment does not end on its line",
                             place_name(files_.places[places_begun_ - 1]), lines_->line_number()));
    }
    const std::string_view start = line.substr(0, end);
    segment_ = one_blank_between_words(start.substr(std::min(begin + 1, start.size())));
    line = segment_;
    return true;
  }
  return false;
}

std::uint64_t TextReader::text_bytes() const {
  return earlier_bytes_ + lines_->text_bytes();
}

}  // namespace tandem
