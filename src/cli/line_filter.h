// line_filter: standard input to standard output, line by line, by several threads, order and count
// kept.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tandem {

// Appends the result for one line (without its end) to out.
using LineAction = std::function<void(std::string_view line, std::string& out)>;

// make_action gives every thread an action of its own. An error names the line.
void filter_lines(std::size_t threads, const std::function<LineAction()>& make_action);

}  // namespace tandem
