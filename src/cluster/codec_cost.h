// codec_cost: what it costs a processor to make messages of numbers and numbers of messages. On a
// link that is nearly as fast as memory this, not bytes, decides which way of exchanging is fast.
#pragma once

#include <optional>

#include "cluster/predict.h"

namespace tandem {

// Seconds for a number that lies on a GPU (gpu_cost.h).
struct GpuCost {
  double copies = 0;                      // to memory, where it is coded, and back
  double whole_fp32 = 0, whole_bf16 = 0;  // of exact ways, which need no memory
};

struct CodecPlace {
  bool leads = true;  // only leaders code
  // No core is left for the thread that carries weight changes, as in training on CPUs.
  bool computing_takes_all = false;
  std::optional<GpuCost> gpu = {};  // none: numbers are in memory
};

// Tries every code on buffers of its own, for some tenths of a second, and adds what it costs, with
// the way to memory and back, to the software's cost of each scheme. All workers call it together:
// they share what they share in a step. Only leaders get the costs.
void measure_codecs(SoftwareCost& software, const CodecPlace& place);

}  // namespace tandem
