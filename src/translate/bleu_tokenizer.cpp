#include "translate/bleu_tokenizer.h"

#include <array>
#include <initializer_list>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "translate/unicode.h"

namespace tandem {
namespace {

struct Named {
  BleuTokenizer tokenizer;
  std::string_view name;
};
constexpr std::array kTokenizers = {Named{BleuTokenizer::v13a, "13a"},
                                    Named{BleuTokenizer::intl, "intl"},
                                    Named{BleuTokenizer::none, "none"}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string out;
  std::size_t copied = 0;
  for (; at != std::string::npos; at = text.find(from, copied)) {
    out.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  text = std::move(out.append(text, copied));
}

// --- 13a ---------------------------------------------------------------------------------------
// Four substitutions one after another, each from left to right without overlap, as sacreBLEU's
// regular expressions do. They look at ASCII only, so bytes serve as well as code points.

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_stop(char c) {
  return c == '.' || c == ',';
}

// ASCII punctuation but ' , - and the full stop. sacreBLEU's expression has the blank as well, but
// more blanks around a blank change nothing.
constexpr std::array<bool, 256> make_isolated() {
  std::array<bool, 256> isolated{};
  for (const std::string_view range : {"{~", "[`", "!&", "(+", ":@", "//"}) {
    for (char c = range[0]; c <= range[1]; ++c) isolated[static_cast<unsigned char>(c)] = true;
  }
  return isolated;
}
constexpr std::array<bool, 256> kIsolated = make_isolated();

// Appends text[copied, at) to out.
void copy_up_to(std::size_t at, std::string_view text, std::size_t& copied, std::string& out) {
  out.append(text, copied, at - copied);
  copied = at;
}

std::string isolate_punctuation(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!kIsolated[static_cast<unsigned char>(text[at])]) continue;
    copy_up_to(at, text, copied, out);
    out.append({' ', text[at], ' '});
    ++copied;
  }
  copy_up_to(text.size(), text, copied, out);
  return out;
}

// Where first(text[i]) and second(text[i + 1]) hold: blanks before and behind the character that
// `stop` names (0 or 1); both characters are used up.
template <class First, class Second>
std::string separate_pairs(std::string_view text, std::size_t stop, First first, Second second) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  std::size_t copied = 0;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (!first(text[at]) || !second(text[at + 1])) continue;
    copy_up_to(at + stop, text, copied, out);
    out.append({' ', text[at + stop], ' '});
    ++copied;
    ++at;
  }
  copy_up_to(text.size(), text, copied, out);
  return out;
}

std::string separate_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  text.insert(0, 1, ' ').push_back(
      ' ');  // so that the first and the last character have neighbours

  const auto not_digit = [](char c) { return !is_digit(c); };
  text = isolate_punctuation(text);
  text = separate_pairs(text, 1, not_digit, is_stop);
  text = separate_pairs(text, 0, is_stop, not_digit);
  return separate_pairs(text, 1, is_digit, [](char c) { return c == '-'; });
}

// --- intl --------------------------------------------------------------------------------------
// The same manner on code points and their Unicode categories.

CharClass class_at(std::string_view text, std::size_t& at) {
  return char_class(next_code_point(text, at));
}

// Where first and second hold for the classes of neighbours: blanks before and behind the one that
// is punctuation by the rule (`stop`: 0 the first, 1 the second); both are used up.
template <class First, class Second>
std::string separate_class_pairs(std::string_view text, int stop, First first, Second second) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t middle = at;
    const bool begins = first(class_at(text, middle));
    std::size_t end = middle;
    if (!begins || middle == text.size() || !second(class_at(text, end))) {
      at = middle;
      continue;
    }
    copy_up_to(stop == 0 ? at : middle, text, copied, out);
    out.push_back(' ');
    copy_up_to(stop == 0 ? middle : end, text, copied, out);
    out.push_back(' ');
    at = end;
  }
  copy_up_to(text.size(), text, copied, out);
  return out;
}

std::string isolate_symbols(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (class_at(text, at) != CharClass::symbol) continue;
    copy_up_to(begin, text, copied, out);
    out.push_back(' ');
    copy_up_to(at, text, copied, out);
    out.push_back(' ');
  }
  copy_up_to(text.size(), text, copied, out);
  return out;
}

std::string separate_intl(std::string_view line) {
  const auto not_number = [](CharClass c) { return c != CharClass::number; };
  const auto punctuation = [](CharClass c) { return c == CharClass::punctuation; };
  std::string text = separate_class_pairs(line, 1, not_number, punctuation);
  text = separate_class_pairs(text, 0, punctuation, not_number);
  return isolate_symbols(text);
}

}  // namespace

std::string_view tokenizer_name(BleuTokenizer tokenizer) {
  for (const Named& known : kTokenizers) {
    if (known.tokenizer == tokenizer) return known.name;
  }
  throw InternalError("a BLEU tokenizer has no name");
}

BleuTokenizer tokenizer_named(std::string_view name) {
  for (const Named& known : kTokenizers) {
    if (known.name == name) return known.tokenizer;
  }
  throw UserError(format("there is no BLEU tokenizer \"{}\"; use 13a, intl or none", name));
}

std::string separate_words(BleuTokenizer tokenizer, std::string_view line) {
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return separate_13a(line);
    case BleuTokenizer::intl:
      return separate_intl(line);
    case BleuTokenizer::none:
      break;
  }
  return std::string(line);
}

}  // namespace tandem
