#include "translate/serve/sentence_split.h"

#include <algorithm>
#include <array>

namespace tandem {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Length of the mark of `marks` that text begins with; 0: none.
template <std::size_t N>
std::size_t begins_with_one(std::string_view text, const std::array<std::string_view, N>& marks) {
  for (const std::string_view mark : marks) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

constexpr std::array<std::string_view, 4> kEnds{".", "!", "?", "…"};
constexpr std::array<std::string_view, 3> kFullWidthEnds{"。", "！", "？"};  // no space follows
constexpr std::array<std::string_view, 9> kClosing{"\"", "'", ")", "]", "”", "“", "’", "»", "«"};

// Behind the marks of the sentence's end at `at`; 0: no sentence ends there.
std::size_t end_of_marks(std::string_view text, std::size_t at) {
  std::size_t end = at;
  bool full_width = false;
  while (end < text.size()) {
    const std::size_t wide = begins_with_one(text.substr(end), kFullWidthEnds);
    const std::size_t mark = wide > 0 ? wide : begins_with_one(text.substr(end), kEnds);
    if (mark == 0) break;
    full_width = wide > 0;
    end += mark;
  }
  if (end == at) return 0;
  while (const std::size_t mark = begins_with_one(text.substr(end), kClosing)) end += mark;
  if (full_width || end == text.size()) return end;
  if (!is_blank(text[end])) return 0;
  const auto next =
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), is_blank);
  return next != text.end() && *next >= 'a' && *next <= 'z' ? 0 : end;
}

void add_trimmed(std::string_view text, std::vector<std::string>& sentences) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (!text.empty()) sentences.emplace_back(text);
}

}  // namespace

std::vector<std::string> split_sentences(std::string_view document) {
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t end = document[at] == '\n' ? at + 1 : end_of_marks(document, at);
    if (end == 0) {
      ++at;
      continue;
    }
    add_trimmed(document.substr(begin, end - begin), sentences);
    begin = at = end;
  }
  add_trimmed(document.substr(begin), sentences);
  return sentences;
}

}  // namespace tandem
