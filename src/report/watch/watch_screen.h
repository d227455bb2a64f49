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
};

// At most rows lines of at most columns columns.
Screen watch_screen(const RunReport& report, const WatchState& state, int columns, int rows);

}  // namespace tandem
