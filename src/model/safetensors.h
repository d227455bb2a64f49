// safetensors: named arrays in one file (the format of Hugging Face's safetensors package): 8 bytes
// of header length, a JSON header, then the arrays' bytes without gaps. No Torch.
// Reading treats the file as hostile: everything is checked before anything is allocated by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace tandem {

enum class ArrayType { f32, f16, bf16, f64, i64, i32, u8 };
std::size_t bytes_of(ArrayType type);

struct ArrayView {
  std::string name;
  ArrayType type = ArrayType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // little-endian, row by row
};

using TextMap = std::map<std::string, std::string>;  // free text, "__metadata__" in the header

// Streams to a new file and makes it durable. Arrays are laid out in the order given.
void write_safetensors(const fs::path& path, std::span<const ArrayView> arrays,
                       const TextMap& metadata = {});

// Most arrays a file may hold: a model of 256 + 256 layers has a third of it.
inline constexpr std::size_t kMaxArrays = 16384;

class SafetensorsFile {
 public:
  // A file that is not exactly what the format allows is a UserError that names the file and what
  // is wrong with it.
  explicit SafetensorsFile(const fs::path& path);

  const std::vector<ArrayView>& arrays() const { return arrays_; }  // in order of their bytes
  const ArrayView* find(std::string_view name) const;               // null when absent
  const TextMap& metadata() const { return metadata_; }

 private:
  MappedFile file_;
  std::vector<ArrayView> arrays_;  // their bytes lie in file_
  TextMap metadata_;
};

}  // namespace tandem
