#include "translate/export/ctranslate2_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::uint32_t kBinaryVersion = 6;

template <class Number>
void put_number(FileWriter& file, Number value) {
  file.write(std::as_bytes(std::span{&value, 1}));
}

void put_text(FileWriter& file, const std::string& text) {
  put_number(file, static_cast<std::uint16_t>(text.size() + 1));
  file.write(text);
  put_number(file, std::uint8_t{0});
}

// The factor that makes the largest value 127; of a row of zeros: 1.
float scale_of(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  if (largest == 0) return 1;
  return 127.0F / std::max(largest, 127.0F / std::numeric_limits<float>::max());
}

}  // namespace

std::span<const std::byte> Ctranslate2File::keep(std::span<const std::byte> bytes) {
  return kept_.emplace_back(bytes.begin(), bytes.end());
}

void Ctranslate2File::array(const std::string& name, const WeightView& view) {
  variables_.push_back({name, view.shape, Type::float32, std::as_bytes(view.values)});
}

void Ctranslate2File::matrix(const std::string& name, const WeightView& view) {
  if (!int8_) return array(name, view);
  const auto rows = static_cast<std::size_t>(view.shape.front());
  const std::size_t width = view.values.size() / rows;
  std::vector<std::int8_t> small;
  std::vector<float> scales;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = view.values.subspan(i * width, width);
    scales.push_back(scale_of(row));
    for (const float value : row) {
      small.push_back(static_cast<std::int8_t>(std::nearbyint(value * scales.back())));
    }
  }
  variables_.push_back({name, view.shape, Type::int8, keep(std::as_bytes(std::span{small}))});
  variables_.push_back({name + "_scale",
                        {view.shape.front()},
                        Type::float32,
                        keep(std::as_bytes(std::span{scales}))});
}

void Ctranslate2File::int8_scalar(const std::string& name, std::int8_t value) {
  variables_.push_back({name, {}, Type::int8, keep(std::as_bytes(std::span{&value, 1}))});
}

void Ctranslate2File::int16_scalar(const std::string& name, std::int16_t value) {
  variables_.push_back({name, {}, Type::int16, keep(std::as_bytes(std::span{&value, 1}))});
}

void Ctranslate2File::alias(const std::string& alias, const std::string& name) {
  aliases_.emplace_back(alias, name);
}

void Ctranslate2File::write(const fs::path& path, const std::string& model,
                            std::uint32_t revision) const {
  FileWriter file(path);
  put_number(file, kBinaryVersion);
  put_text(file, model);
  put_number(file, revision);
  put_number(file, static_cast<std::uint32_t>(variables_.size()));
  for (const Variable& variable : variables_) {
    if (variable.bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw UserError(
          format("{} has {} bytes, but an array of CTranslate2's format at most 2^32 - 1",
                 variable.name, variable.bytes.size()));
    }
    put_text(file, variable.name);
    put_number(file, static_cast<std::uint8_t>(variable.shape.size()));
    for (const std::int64_t size : variable.shape) {
      put_number(file, static_cast<std::uint32_t>(size));
    }
    put_number(file, variable.type);
    put_number(file, static_cast<std::uint32_t>(variable.bytes.size()));
    file.write(variable.bytes);
  }
  put_number(file, static_cast<std::uint32_t>(aliases_.size()));
  for (const auto& [alias, name] : aliases_) {
    put_text(file, alias);
    put_text(file, name);
  }
  file.finish();
}

}  // namespace tandem
