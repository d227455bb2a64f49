// watch_screen: what `tandem watch` shows, for a screen of any size from 80x24 up. Pure.
#pragma once

#include "report/answers.h"
#include "report/watch/cells.h"

namespace tandem {

enum class WatchView { overview, answers, events, workers };
inline constexpr int kWatchViews = 4;

struct WatchState {
  WatchView view = WatchView::overview;
  bool paused = false;
  double now = 0;  // seconds since 1970
  int from = 0;    // lines of the view that are scrolled away; the overview does not scroll
};

// At most rows lines of at most columns columns.
Screen watch_screen(const RunReport& report, const WatchState& state, int columns, int rows);

// WatchState::from after so many lines down (up, when less than 0): not beyond the view's ends.
int scrolled(const RunReport& report, const WatchState& state, int by, int columns, int rows);
int scrolling_rows(int rows);  // of a screen: what a page is

}  // namespace tandem
