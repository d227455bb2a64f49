#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/utf8.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace tandem {
namespace {

struct TypeRow {
  ArrayType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeRow, 7> kTypes{{{ArrayType::f32, "F32", 4},
                                         {ArrayType::f16, "F16", 2},
                                         {ArrayType::bf16, "BF16", 2},
                                         {ArrayType::f64, "F64", 8},
                                         {ArrayType::i64, "I64", 8},
                                         {ArrayType::i32, "I32", 4},
                                         {ArrayType::u8, "U8", 1}}};

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxDimensions = 8;
constexpr std::string_view kMetadata = "__metadata__";

const TypeRow& row_of(ArrayType type) {
  return *std::ranges::find(kTypes, type, &TypeRow::type);
}

// A file that does not hold what it should.
class Damage {
 public:
  explicit Damage(const fs::path& path) : path_(path.string()) {}
  [[noreturn]] void fail(std::string_view why) const {
    throw UserError(format("{}: not a valid safetensors file: {}; take another copy", path_, why));
  }
  [[noreturn]] void fail(std::string_view array, std::string_view why) const {
    fail(format("array {} {}", in_quotes(array), why));
  }

 private:
  std::string path_;
};

std::string_view header_text(std::span<const std::byte> file, const Damage& damage) {
  if (file.size() < kLengthBytes) damage.fail("it is shorter than 8 bytes");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeader) damage.fail(format("its header would have {} bytes", length));
  if (length > file.size() - kLengthBytes) damage.fail("its header is longer than the file");
  const std::string_view text{reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              static_cast<std::size_t>(length)};
  if (!text.starts_with('{')) damage.fail("its header does not start with {");
  // Bounds what the parser builds, before it does: each array needs at least four colons.
  if (std::ranges::count(text, ':') > static_cast<std::ptrdiff_t>(4 * kMaxArrays)) {
    damage.fail(format("its header holds more than {} arrays", kMaxArrays));
  }
  return text;
}

// What Json throws speaks of kinds; say where.
template <class Read>
decltype(auto) value(const Damage& damage, std::string_view array, std::string_view key,
                     Read read) {
  try {
    return read();
  } catch (const UserError&) {
    damage.fail(array, format("has a bad {}", key));
  }
}

ArrayView read_entry(std::string_view name, const Json& entry, std::span<const std::byte> data,
                     const Damage& damage) {
  if (!entry.is_object() || entry.members().size() != 3) {
    damage.fail(name, "is not described by dtype, shape and data_offsets alone");
  }
  ArrayView array;
  array.name = name;
  const std::string type =
      value(damage, name, "dtype", [&] { return entry.at("dtype").as_string(); });
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::name);
  if (row == kTypes.end()) damage.fail(name, "has a dtype that is not supported");
  array.type = row->type;

  std::uint64_t bytes = row->bytes;
  const Json::Array& shape = value(
      damage, name, "shape", [&]() -> const Json::Array& { return entry.at("shape").items(); });
  if (shape.size() > kMaxDimensions) damage.fail(name, "has too many dimensions");
  for (const Json& size : shape) {
    const std::int64_t n = value(damage, name, "shape", [&] { return size.as_int(); });
    if (n < 0) damage.fail(name, "has a negative dimension");
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(n), &bytes)) {
      damage.fail(name, "has a shape beyond 2^64 bytes");
    }
    array.shape.push_back(n);
  }
  const Json::Array& ends = value(damage, name, "data_offsets", [&]() -> const Json::Array& {
    return entry.at("data_offsets").items();
  });
  if (ends.size() != 2) damage.fail(name, "has a bad data_offsets");
  const std::int64_t begin = value(damage, name, "data_offsets", [&] { return ends[0].as_int(); });
  const std::int64_t end = value(damage, name, "data_offsets", [&] { return ends[1].as_int(); });
  if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > data.size()) {
    damage.fail(name, "lies outside of the file");
  }
  const auto size = static_cast<std::uint64_t>(end - begin);
  if (size != bytes) damage.fail(name, "has other bytes than its shape needs");
  array.bytes = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
  return array;
}

void read_metadata(const Json& entry, const Damage& damage, TextMap& metadata) {
  if (!entry.is_object()) damage.fail("its __metadata__ is not an object");
  for (const auto& [key, text] : entry.members()) {
    if (!text.is_string()) damage.fail("its __metadata__ holds something other than text");
    metadata.emplace(key, text.as_string());
  }
}

// Sorted by begin, the arrays must follow each other without gap or overlap up to the end.
void check_cover(std::vector<ArrayView>& arrays, std::span<const std::byte> data,
                 const Damage& damage) {
  std::ranges::stable_sort(arrays, [](const ArrayView& a, const ArrayView& b) {
    return std::pair{a.bytes.data(), a.bytes.size()} < std::pair{b.bytes.data(), b.bytes.size()};
  });
  const std::byte* end = data.data();
  for (const ArrayView& array : arrays) {
    if (array.bytes.data() < end) damage.fail(array.name, "overlaps another");
    if (array.bytes.data() > end) damage.fail(array.name, "leaves a hole before it");
    end = array.bytes.data() + array.bytes.size();
  }
  if (end != data.data() + data.size()) damage.fail("bytes are left over at its end");
}

}  // namespace

std::size_t bytes_of(ArrayType type) {
  return row_of(type).bytes;
}

void write_safetensors(const fs::path& path, std::span<const ArrayView> arrays,
                       const TextMap& metadata, const std::function<void()>& written) {
  check(arrays.size() <= kMaxArrays, "more arrays than a reader takes");
  Json header = Json::object();
  if (!metadata.empty()) {
    Json texts = Json::object();
    for (const auto& [key, text] : metadata) texts.set(key, text);
    header.set(kMetadata, std::move(texts));
  }
  std::size_t end = 0;
  for (const ArrayView& array : arrays) {
    Json shape = Json::array();
    std::size_t bytes = bytes_of(array.type);
    for (const std::int64_t size : array.shape) {
      shape.push(size);
      bytes *= static_cast<std::size_t>(size);
    }
    check(bytes == array.bytes.size(), "an array's bytes do not fit its shape");
    check(header.find(array.name) == nullptr, "two arrays of one name");
    header.set(array.name, Json::object()
                               .set("dtype", row_of(array.type).name)
                               .set("shape", std::move(shape))
                               .set("data_offsets", Json::array().push(end).push(end + bytes)));
    end += bytes;
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');  // aligned arrays
  const std::uint64_t length = text.size();

  FileWriter file(path);
  file.write(std::as_bytes(std::span{&length, 1}));
  file.write(text);
  for (const ArrayView& array : arrays) {
    file.write(array.bytes);
    written();
  }
  file.finish();
  written();
}

SafetensorsContents parse_safetensors(std::span<const std::byte> file, const fs::path& path) {
  const Damage damage(path);
  const std::string_view text = header_text(file, damage);
  const auto data = file.subspan(kLengthBytes + text.size());
  const Json header = [&] {
    try {
      return Json::parse(text, "header");
    } catch (const UserError& error) {
      damage.fail(error.what());
    }
  }();
  SafetensorsContents contents;
  for (const auto& [name, entry] : header.members()) {
    if (name == kMetadata) {
      read_metadata(entry, damage, contents.metadata);
    } else {
      contents.arrays.push_back(read_entry(name, entry, data, damage));
    }
  }
  check_cover(contents.arrays, data, damage);
  return contents;
}

const ArrayView* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::find(arrays(), name, &ArrayView::name);
  return found == arrays().end() ? nullptr : &*found;
}

}  // namespace tandem
