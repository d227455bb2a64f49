// crc32c: the Castagnoli checksum that TensorBoard's files carry.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace tandem
