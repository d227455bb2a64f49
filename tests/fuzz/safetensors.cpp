// Files of weights from elsewhere.
#include "model/safetensors.h"

#include "base/error.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

void read_any_safetensors(std::string_view input) {
  const auto bytes = std::as_bytes(std::span{input});
  const SafetensorsContents contents = parse_safetensors(bytes, "x.safetensors");
  std::size_t covered = 0;
  for (const ArrayView& array : contents.arrays) {
    std::size_t needed = bytes_of(array.type);
    for (const std::int64_t size : array.shape) needed *= static_cast<std::size_t>(size);
    check(array.bytes.size() == needed, "an array has other bytes than its shape needs");
    check(array.bytes.data() >= bytes.data() &&
              array.bytes.data() + needed <= bytes.data() + bytes.size(),
          "an array lies outside of the file");
    covered += needed;
  }
  check(covered <= bytes.size(), "arrays overlap");
}

std::vector<std::string> safetensors_seeds() {
  const std::vector<float> floats{1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span{floats});
  const auto file = [](std::span<const ArrayView> arrays, const TextMap& metadata) {
    const fs::path path = scratch_file("x.safetensors", "");
    write_safetensors(path, arrays, metadata);
    return read_file(path);
  };
  const std::vector<ArrayView> arrays{{"encoder.a", ArrayType::f32, {2, 3}, bytes},
                                      {"b", ArrayType::f16, {3}, bytes.first(6)},
                                      {"none", ArrayType::bf16, {0, 7}, {}},
                                      {"c", ArrayType::i64, {}, bytes.first(8)},
                                      {"d", ArrayType::u8, {1, 1, 5}, bytes.first(5)}};
  return {file(arrays, {{"step", "12"}, {"text", "\xc3\xa4\n"}}),
          file(std::span(arrays).first(1), {}), file({}, {{"k", "v"}})};
}

const FuzzTarget kSafetensorsTarget{"safetensors", read_any_safetensors, safetensors_seeds};

}  // namespace
}  // namespace tandem
