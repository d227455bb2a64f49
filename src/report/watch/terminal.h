// terminal: the full screen of a terminal while it lives; ncurses stays behind it.
#pragma once

#include <chrono>

#include "report/watch/cells.h"

namespace tandem {

enum class Key { none, quit, pause, next_view, up, down, page_up, page_down, resized };

class Terminal {
 public:
  Terminal();   // takes the screen; a terminal that cannot is a UserError
  ~Terminal();  // gives it back
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int columns() const;
  int rows() const;
  void draw(const Screen& screen);
  Key wait_for_key(std::chrono::milliseconds longest);
};

// Whether standard output and input are a terminal.
bool on_a_terminal();

}  // namespace tandem
