// screen: standard error, where whoever reads may have stopped for a while (Ctrl-S, a pager, a full
// pipe).
#pragma once

#include <chrono>
#include <string_view>

namespace tandem {

// Past all streams, whose locks another thread may hold. False: it found no room in that time.
bool show_past_streams(std::string_view text, std::chrono::milliseconds most);

}  // namespace tandem
