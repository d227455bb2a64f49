#include "model/model_file.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"

namespace tandem {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return format("[{}]", join(shape, ", "));
}

const ArrayView& needed_array(const SafetensorsFile& file, const std::string& name,
                              const std::vector<std::int64_t>& shape) {
  const ArrayView* array = file.find(name);
  if (array == nullptr) {
    throw UserError(format("{}: it lacks {}; use the settings it was trained with",
                           file.path().string(), name));
  }
  if (array->type != ArrayType::f32 || array->shape != shape) {
    throw UserError(
        format("{}: {} has shape {} where this model needs fp32 of {}; use the "
               "settings it was trained with",
               file.path().string(), name, shape_text(array->shape), shape_text(shape)));
  }
  return *array;
}

}  // namespace

void write_flat(const fs::path& path, const FlatParams& params, const Tensor& flat,
                const TextMap& metadata) {
  const Tensor values = flat.detach().to(at::kCPU).contiguous();
  const auto* data = values.const_data_ptr<float>();
  std::vector<ArrayView> arrays;
  for (const FlatParams::Slot& slot : params.slots()) {
    const std::span floats{data + slot.offset, static_cast<std::size_t>(slot.count)};
    arrays.push_back({slot.name, ArrayType::f32, slot.shape, std::as_bytes(floats)});
  }
  write_safetensors(path, arrays, metadata);
}

void require_arrays(const SafetensorsFile& file, const std::vector<ParamSpec>& layout) {
  for (const ParamSpec& spec : layout) needed_array(file, spec.name, spec.shape);
}

void read_flat(const SafetensorsFile& file, const FlatParams& params, const Tensor& flat) {
  const at::NoGradGuard no_gradient;
  if (file.arrays().size() > params.slots().size()) {
    for (const ArrayView& array : file.arrays()) {
      const bool known = std::ranges::any_of(
          params.slots(), [&](const auto& slot) { return slot.name == array.name; });
      if (!known) {
        throw UserError(
            format("{}: it holds {}, which this model does not have; "
                   "use the settings it was trained with",
                   file.path().string(), in_quotes(array.name)));
      }
    }
  }
  Tensor values = at::zeros(flat.sizes(), at::kFloat);
  for (const FlatParams::Slot& slot : params.slots()) {
    const ArrayView& array = needed_array(file, slot.name, slot.shape);
    std::memcpy(values.mutable_data_ptr<float>() + slot.offset, array.bytes.data(),
                array.bytes.size());
  }
  flat.copy_(values);
}

}  // namespace tandem
