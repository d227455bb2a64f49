// grad_exchange_kept: what int8 and int4 keep back, between steps: to the checkpoint, from it, and
// after a change of the loss scale. Only leaders keep something; the others do not call.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "cluster/bucket_plan.h"
#include "cluster/comm.h"
#include "cluster/link_codec.h"

namespace tandem {

bool keeps_something(LinkCodec& codec);
// Of a codec that keeps something, by all leaders; as GradExchange promises them.
void rescale_kept(const Comm& comm, LinkCodec& codec, double factor);
std::vector<at::Tensor> gather_kept(Comm& comm, LinkCodec& codec);
void restore_kept(Comm& comm, LinkCodec& codec, std::span<const Bucket> buckets,
                  std::vector<at::Tensor> from);

}  // namespace tandem
