// safetensors: named arrays in one file (the format of Hugging Face's safetensors package): 8 bytes
// of header length, a JSON header, then the arrays' bytes without gaps. No Torch.
// Reading treats the file as hostile: everything is checked before anything is allocated by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// Streams to a new file and makes it durable. Arrays are laid out in the order given. written:
// called after each of them and at the end.
void write_safetensors(
    const fs::path& path, std::span<const ArrayView> arrays, const TextMap& metadata = {},
    const std::function<void()>& written = [] {});

// Most arrays a file may hold: a model of 256 + 256 layers has a third of it.
inline constexpr std::size_t kMaxArrays = 16384;

struct SafetensorsContents {
  std::vector<ArrayView> arrays;  // in order of their bytes, which lie in what was parsed
  TextMap metadata;
};

// Bytes that are not exactly what the format allows are a UserError that names the file and what is
// wrong with it.
SafetensorsContents parse_safetensors(std::span<const std::byte> file, const fs::path& path);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const fs::path& path)
      : path_(path), file_(path), contents_(parse_safetensors(file_.bytes(), path)) {}

  const fs::path& path() const { return path_; }
  const std::vector<ArrayView>& arrays() const { return contents_.arrays; }
  const TextMap& metadata() const { return contents_.metadata; }
  const ArrayView* find(std::string_view name) const;  // null when absent

 private:
  fs::path path_;
  MappedFile file_;
  SafetensorsContents contents_;
};

}  // namespace tandem
