#include "cluster/replicas.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"

namespace tandem {

std::vector<int> odd_ones(std::span<const std::uint64_t> hashes) {
  const auto has_most = [&](std::uint64_t hash) {
    return 2 * static_cast<std::size_t>(std::ranges::count(hashes, hash)) > hashes.size();
  };
  const auto right = std::ranges::find_if(hashes, has_most);
  std::vector<int> odd;
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (right == hashes.end() || hashes[rank] != *right) odd.push_back(static_cast<int>(rank));
  }
  return odd;
}

void check_replicas(Comm& comm, const at::Tensor& values, std::int64_t step) {
  if (comm.alone()) return;
  const at::Tensor here = values.detach().cpu().contiguous();
  const std::uint64_t own =
      hash64({static_cast<const std::byte*>(here.const_data_ptr()), here.nbytes()});
  std::vector<std::uint64_t> hashes;
  for (const at::Tensor& hash :
       comm.all_gather(at::full({1}, std::bit_cast<std::int64_t>(own), at::kLong))) {
    hashes.push_back(std::bit_cast<std::uint64_t>(hash.item<std::int64_t>()));
  }
  std::vector<std::string> names;
  for (const int rank : odd_ones(hashes)) names.push_back(comm.world().name_of(rank));
  if (names.empty()) return;
  const bool all = names.size() == hashes.size();
  throw EnvError(format(
      "after step {} the weights of {} differ from {}; check that all hosts run the same build and "
      "that their memory is sound, then run the same command again to go on from the newest "
      "checkpoint",
      step, join(names, ", "), all ? "each other" : "those of the other workers"));
}

}  // namespace tandem
