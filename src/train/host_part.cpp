#include "train/host_part.h"

#include <iterator>
#include <map>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "train/left_overs.h"
#include "train/retention.h"
#include "train/run_folder.h"

namespace tandem {
namespace {

constexpr std::size_t kPartsKept = 2;

Tensor in_memory(const Tensor& tensor) {
  return tensor.defined() ? tensor.detach().cpu() : tensor;
}

std::string prefix_of(const HostPlace& place) {
  return format("{}-", place.world.self().host_index);
}

fs::path folder_of(const HostPlace& place, std::int64_t step) {
  return RunFolder(place.run).hosts() / (prefix_of(place) + checkpoint_name(step));
}

Json identity(const HostPlace& place, std::int64_t step, const Tensor& common) {
  const Tensor here = common.detach().cpu().contiguous();
  const std::span bytes{static_cast<const std::byte*>(here.const_data_ptr()), here.nbytes()};
  return Json::object()
      .set("step", step)
      .set("host", place.world.self().host_index)
      .set("hosts", place.world.hosts())
      .set("common", hash_text(hash64(bytes)));
}

// Later ones are of a course that the run went back from: they would push out the new ones.
void delete_old_parts(const HostPlace& place, std::int64_t saved) {
  delete_left_checkpoints(RunFolder(place.run).hosts(), prefix_of(place));
  std::map<std::int64_t, fs::path> own;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(RunFolder(place.run).hosts(), ignored)) {
    const std::string name = entry.path().filename().string(), prefix = prefix_of(place);
    if (!name.starts_with(prefix)) continue;
    if (const auto step = step_of_checkpoint(name.substr(prefix.size()))) own[*step] = entry.path();
  }
  while (!own.empty() && (own.size() > kPartsKept || own.rbegin()->first > saved)) {
    const auto useless = own.rbegin()->first > saved ? std::prev(own.end()) : own.begin();
    fs::remove_all(useless->second, ignored);
    own.erase(useless);
  }
}

}  // namespace

void write_host_part(const HostPlace& place, const TrainState& state, const Tensor& common,
                     const FlatParams& layout, const TrainTensors& tensors, const LocalState& local,
                     const std::function<void()>& written) {
  make_directories(RunFolder(place.run).hosts());
  const TrainTensors all{in_memory(tensors.values), in_memory(tensors.first),
                         in_memory(tensors.second), Tensor(), local.arrays};
  write_checkpoint(folder_of(place, state.step), layout, all,
                   identity(place, state.step, common)
                       .set("schedule", local.schedule)
                       .set("own", own_counts(state)),
                   written);
  delete_old_parts(place, state.step);
}

std::string host_part_problem(const HostPlace& place, std::int64_t step, const Tensor& common) {
  const fs::path folder = folder_of(place, step);
  if (!fs::exists(folder)) return format("{} is not there", folder.string());
  const std::string problem = checkpoint_problem(folder);
  if (!problem.empty()) return format("{}: {}", folder.string(), problem);
  const Json stored = read_checkpoint_state(folder), wanted = identity(place, step, common);
  for (const auto& [key, value] : wanted.members()) {
    const Json* its = stored.find(key);
    if (its == nullptr || its->dump() != value.dump()) {
      return format("{} belongs to another checkpoint (its {} differs)", folder.string(), key);
    }
  }
  return {};
}

LocalState read_host_part(const HostPlace& place, TrainState& state, const FlatParams& layout,
                          const TrainTensors& tensors) {
  const fs::path folder = folder_of(place, state.step);
  read_checkpoint_tensors(folder, layout, tensors);
  const Json stored = read_checkpoint_state(folder);
  // Parts written before hosts counted for themselves have none: all counted alike.
  if (const Json* own = stored.find("own")) {
    take_own_counts(state, *own, (folder / kStateFile).string());
  }
  return {stored.at("schedule"), read_checkpoint_kept(folder, layout)};
}

}  // namespace tandem
