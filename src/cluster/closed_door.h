// closed_door: sockets of libraries that listen although everyone they were opened for has come.
// Gloo keeps a socket open for as long as it lives, and every stranger who connects costs it a file
// for ever.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tandem {

// From now on the kernel drops whatever asks for a connection; connections that are there stay.
// False where the system does not allow it.
bool close_door(int listening_socket);

// All doors of a library. Empty, or why one may still be open: also when none is known, for it has
// one.
std::string close_doors(const std::optional<std::vector<int>>& listening_sockets);

}  // namespace tandem
