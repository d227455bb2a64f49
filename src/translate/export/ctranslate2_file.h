// ctranslate2_file: model.bin of CTranslate2 (binary version 6): named arrays, and names that stand
// for an array of another name. Little-endian; texts carry their length and end with a zero byte.
// No Torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "translate/export/named_weights.h"

namespace tandem {

class Ctranslate2File {
 public:
  explicit Ctranslate2File(bool int8) : int8_(int8) {}

  // Views are kept, not copied: they live until write().
  void array(const std::string& name, const WeightView& view);
  // A matrix that CTranslate2 can keep as 8 bit numbers: with int8 each row is scaled so that its
  // largest value becomes 127, and NAME_scale holds the factors.
  void matrix(const std::string& name, const WeightView& view);
  void flag(const std::string& name, bool value) { int8_scalar(name, value ? 1 : 0); }
  void int8_scalar(const std::string& name, std::int8_t value);
  void int16_scalar(const std::string& name, std::int16_t value);
  // alias is the same array as name, its scale included.
  void alias(const std::string& alias, const std::string& name);

  // model: the architecture's name, revision: of its set of names.
  void write(const fs::path& path, const std::string& model, std::uint32_t revision) const;

 private:
  enum class Type : std::uint8_t { float32 = 0, int8 = 1, int16 = 2 };  // numbers of the format
  struct Variable {
    std::string name;
    std::vector<std::int64_t> shape;
    Type type;
    std::span<const std::byte> bytes;
  };
  std::span<const std::byte> keep(std::span<const std::byte> bytes);

  bool int8_;
  std::vector<Variable> variables_;
  std::vector<std::pair<std::string, std::string>> aliases_;
  std::deque<std::vector<std::byte>> kept_;  // what has no home in the model
};

}  // namespace tandem
