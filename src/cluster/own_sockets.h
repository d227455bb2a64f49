// own_sockets: sockets of this process that a library opened and does not tell.
#pragma once

#include <optional>
#include <vector>

namespace tandem {

std::optional<std::vector<int>> listening_sockets();  // nothing: the system does not tell
std::vector<int> connected_sockets();                 // TCP

}  // namespace tandem
