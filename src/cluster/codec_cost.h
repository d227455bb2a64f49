// codec_cost: what it costs a processor to make messages of numbers and numbers of messages. On a
// link that is nearly as fast as memory this, not bytes, decides which way of exchanging is fast.
#pragma once

#include <c10/core/Device.h>

#include "cluster/predict.h"

namespace tandem {

struct CodecPlace {
  bool leads = true;  // only leaders code
  // No core is left for the thread that carries weight changes, as in training on CPUs.
  bool computing_takes_all = false;
  c10::Device device = c10::kCPU;  // where the numbers are
  bool as_on_gpu = false;          // what a GPU's need is done with those in memory, for tests
};

// Tries every code on buffers of its own, for some tenths of a second, and adds what it costs, with
// the way to memory and back, to the software's cost of each scheme. All workers call it together:
// they share what they share in a step. Only leaders get the costs.
void measure_codecs(SoftwareCost& software, const CodecPlace& place);

}  // namespace tandem
