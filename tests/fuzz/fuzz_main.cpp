// libFuzzer's way into the one target of this program. --seeds=FOLDER writes the target's seeds
// there and ends.
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/format.h"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string_view option = "--seeds=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (!argument.starts_with(option)) continue;
    const tandem::fs::path folder = argument.substr(option.size());
    int number = 0;
    for (const std::string& seed : tandem::FuzzTarget::all().front()->seeds()) {
      std::ofstream(folder / tandem::format("seed-{}", number++), std::ios::binary) << seed;
    }
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tandem::FuzzTarget::all().front()->takes({reinterpret_cast<const char*>(data), size});
  return 0;
}
