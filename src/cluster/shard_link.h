// shard_link: what travels between hosts when every worker keeps a part of the optimizer's state
// (shard_plan.h). Gradients are scattered: a host gets the sum of all hosts of what its own workers
// keep, and nothing else. Updated weights are gathered: a host sends what its workers have updated
// to all others, whole. Together that is as much as a sum of all for all, at equal formats. Only
// leaders use it, in memory. Sums are those of leader_link.h, to the bit, but for the second
// rounding that more than two hosts need there.
#pragma once

#include <memory>

#include "cluster/leader_link.h"
#include "cluster/shard_plan.h"

namespace tandem {

// After complete() the buffer holds the sum of what this host's workers keep of the bucket.
// plan.format: fp32 or bf16. All outlive the link, here and below.
std::unique_ptr<LeaderLink> scatter_link(Comm& comm, const at::Tensor& numbers,
                                         const ShardPlan& shards, const LinkPlan& plan);

// post() sends what the buffer holds of this host's workers; after complete() it holds that of all.
// Numbers travel as fp32.
std::unique_ptr<LeaderLink> gather_link(Comm& comm, const at::Tensor& numbers,
                                        const ShardPlan& shards, const LinkPlan& plan);

}  // namespace tandem
