#include "translate/line_parts.h"

#include <algorithm>

namespace tandem {

std::vector<std::size_t> cut_line(std::size_t tokens, std::size_t most,
                                  const std::function<CutPlace(std::size_t)>& before) {
  std::vector<std::size_t> parts;
  std::size_t begin = 0;
  while (tokens - begin > most) {
    const std::size_t least = std::max<std::size_t>(1, most / 4);
    std::size_t end = begin + most;
    CutPlace found = CutPlace::none;
    for (std::size_t at = begin + most; at >= begin + least && found != CutPlace::sentence; --at) {
      const CutPlace place = before(at);
      if (place <= found) continue;
      found = place;
      end = at;
    }
    parts.push_back(end - begin);
    begin = end;
  }
  if (tokens > begin || parts.empty()) parts.push_back(tokens - begin);
  return parts;
}

}  // namespace tandem
