// link_text: speeds and times of links as a person writes them.
#pragma once

#include <string>

namespace tandem {

std::string rate_text(double bytes_per_second);  // "94 Mbps", "1 Gbps", "9.4 Gbps"
std::string step_text(double seconds);           // "0.152 s", "1.66 s", "31 s", "0.2 ms"

}  // namespace tandem
