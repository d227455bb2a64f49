// own_sockets: sockets of this process that a library opened and does not tell.
#pragma once

#include <vector>

namespace tandem {

std::vector<int> listening_sockets();
std::vector<int> connected_sockets();  // TCP

}  // namespace tandem
