#include "report/watch/terminal.h"

#include <ncurses.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr int kControlC = 3;

// Braille needs UTF-8; a shell over ssh often says nothing about it.
void want_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
}

short colour_of(Style style) {
  switch (style) {
    case Style::good:
      return COLOR_GREEN;
    case Style::bad:
      return COLOR_RED;
    case Style::one:
      return COLOR_CYAN;
    case Style::two:
      return COLOR_BLUE;
    case Style::three:
      return COLOR_MAGENTA;
    case Style::four:
      return COLOR_RED;
    case Style::five:
      return COLOR_GREEN;
    case Style::six:
      return COLOR_YELLOW;
    default:
      return -1;
  }
}

chtype attribute_of(Style style) {
  if (style == Style::strong) return A_BOLD;
  if (style == Style::soft || style == Style::seven) return A_DIM;
  const short colour = colour_of(style);
  return colour < 0 || !::has_colors() ? A_NORMAL : COLOR_PAIR(colour + 1);
}

}  // namespace

bool on_a_terminal() {
  return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1;
}

Terminal::Terminal() {
  want_utf8();
  if (::newterm(nullptr, stdout, stdin) == nullptr) {
    const char* name = std::getenv("TERM");
    throw UserError(format("this terminal (TERM={}) cannot show a full screen; use --once",
                           name == nullptr ? "" : name));
  }
  ::raw();
  ::noecho();
  ::keypad(stdscr, true);
  ::curs_set(0);
  if (!::has_colors()) return;
  ::start_color();
  ::use_default_colors();
  for (short colour = 0; colour < 8; ++colour) {
    ::init_pair(static_cast<short>(colour + 1), colour, -1);
  }
}

Terminal::~Terminal() {
  ::endwin();
}

int Terminal::columns() const {
  return COLS;
}

int Terminal::rows() const {
  return LINES;
}

void Terminal::draw(const Screen& screen) {
  ::erase();
  for (std::size_t row = 0; row < screen.size() && static_cast<int>(row) < LINES; ++row) {
    ::move(static_cast<int>(row), 0);
    for (const Piece& piece : screen[row]) {
      const chtype attribute = attribute_of(piece.style);
      ::attron(attribute);
      ::addstr(piece.text.c_str());
      ::attroff(attribute);
      if (getcury(stdscr) != static_cast<int>(row)) break;  // it was wider than the screen
    }
  }
  ::refresh();
}

Key Terminal::wait_for_key(std::chrono::milliseconds longest) {
  ::timeout(static_cast<int>(longest.count()));
  switch (::getch()) {
    case 'q':
    case 'Q':
    case kControlC:
      return Key::quit;
    case 'p':
    case 'P':
    case ' ':
      return Key::pause;
    case '\t':
    case KEY_RIGHT:
      return Key::next_view;
    case 'k':
    case KEY_UP:
      return Key::up;
    case 'j':
    case KEY_DOWN:
      return Key::down;
    case KEY_PPAGE:
      return Key::page_up;
    case KEY_NPAGE:
      return Key::page_down;
    case KEY_RESIZE:
      return Key::resized;
    default:
      return Key::none;
  }
}

}  // namespace tandem
