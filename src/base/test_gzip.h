// test_gzip: packs text for tests; defined in byte_source_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

std::string gzip(std::string_view text);

}  // namespace tandem
