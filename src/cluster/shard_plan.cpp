#include "cluster/shard_plan.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {

ShardPlan::ShardPlan(std::vector<GradRange> pieces, int workers)
    : pieces_(std::move(pieces)), workers_(workers) {
  check(workers > 0, "a shard plan needs workers");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(workers), 0);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    check(pieces_[i].begin == end && pieces_[i].end > end, "pieces of shards have gaps");
    end = pieces_[i].end;
    std::int64_t& size = sizes[static_cast<std::size_t>(owner(i))];
    places_.push_back(size);
    size += pieces_[i].end - pieces_[i].begin;
  }
}

std::int64_t ShardPlan::shard_size(int worker) const {
  std::int64_t size = 0;
  for (std::size_t i = static_cast<std::size_t>(worker); i < pieces_.size();
       i += static_cast<std::size_t>(workers_)) {
    size += pieces_[i].end - pieces_[i].begin;
  }
  return size;
}

std::vector<ShardPlan::Part> ShardPlan::parts_of(int worker, GradRange within) const {
  const auto first = std::ranges::upper_bound(pieces_, within.begin, {}, &GradRange::end);
  std::vector<Part> parts;
  for (auto i = static_cast<std::size_t>(first - pieces_.begin());
       i < pieces_.size() && pieces_[i].begin < within.end; ++i) {
    if (owner(i) != worker) continue;
    const std::int64_t begin = std::max(pieces_[i].begin, within.begin);
    const std::int64_t end = std::min(pieces_[i].end, within.end);
    parts.push_back({begin, end, places_[i] + begin - pieces_[i].begin});
  }
  return parts;
}

}  // namespace tandem
