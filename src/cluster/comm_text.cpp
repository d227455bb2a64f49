#include "cluster/comm_text.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace tandem {
namespace {

at::Tensor bytes_of(const std::string& text, std::size_t size) {
  at::Tensor bytes = at::zeros({static_cast<std::int64_t>(size)}, at::kByte);
  if (!text.empty()) {
    std::memcpy(bytes.mutable_data_ptr(), text.data(), std::min(size, text.size()));
  }
  return bytes;
}

std::string text_of(const at::Tensor& bytes, std::size_t size) {
  const auto* data = static_cast<const char*>(bytes.const_data_ptr());
  return size == 0 ? std::string() : std::string(data, size);
}

at::Tensor size_tensor(const std::string& text) {
  return at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
}

}  // namespace

std::string text_of_first(Comm& comm, const std::string& text, Group group) {
  if (comm.size(group) == 1) return text;
  const at::Tensor size = size_tensor(text);
  comm.broadcast(size, group);
  const auto bytes = static_cast<std::size_t>(size.item<std::int64_t>());
  if (bytes == 0) return {};
  const at::Tensor buffer = bytes_of(comm.place(group) == 0 ? text : "", bytes);
  comm.broadcast(buffer, group);
  return text_of(buffer, bytes);
}

std::vector<std::string> texts_of_all(Comm& comm, const std::string& text) {
  if (comm.alone()) return {text};
  std::vector<std::size_t> sizes;
  for (const at::Tensor& size : comm.all_gather(size_tensor(text))) {
    sizes.push_back(static_cast<std::size_t>(size.item<std::int64_t>()));
  }
  const std::size_t longest = std::ranges::max(sizes);
  std::vector<std::string> texts(sizes.size());
  if (longest == 0) return texts;
  const auto gathered = comm.all_gather(bytes_of(text, longest));
  for (std::size_t i = 0; i < sizes.size(); ++i) texts[i] = text_of(gathered[i], sizes[i]);
  return texts;
}

}  // namespace tandem
