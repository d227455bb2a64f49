// codec_cost: what it costs a processor to make messages of numbers and numbers of messages. On a
// link that is nearly as fast as memory this, not bytes, decides which way of exchanging is fast.
#pragma once

#include "cluster/predict.h"

namespace tandem {

// Tries every code on buffers of its own, for some tenths of a second, and adds what it costs to
// the software's cost of each scheme. All workers call it together: they share what they share in a
// step. Only leaders code and get the costs. computing_takes_all: no core is left for the thread
// that carries weight changes, as in training on CPUs.
void measure_codecs(SoftwareCost& software, bool leads, bool computing_takes_all);

}  // namespace tandem
