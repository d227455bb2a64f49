#include "cluster/codec_cost.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "cluster/link_codec.h"
#include "cluster/staging.h"
#include "cluster/wire_codec.h"

namespace tandem {
namespace {

// Each try has numbers of its own, which no cache holds any more.
constexpr std::int64_t kTries = 3, kNumbers = 1 << 20;

template <class Work>
double quickest(Work&& work) {
  double least = 1e9;
  for (std::int64_t i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work(GradRange{i * kNumbers, (i + 1) * kNumbers});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least / static_cast<double>(kNumbers);
}

std::vector<float> some_numbers() {
  std::vector<float> numbers(static_cast<std::size_t>(kTries * kNumbers));
  std::uint32_t state = 1;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(static_cast<std::int32_t>(state)) * 1e-12f;
  }
  return numbers;
}

struct Coding {
  std::vector<float> numbers = some_numbers();
  std::vector<GradRange> slots{{0, kTries* kNumbers}};
  std::unique_ptr<LinkCodec> codec;
  std::vector<std::uint8_t> message;

  Coding(LinkFormat format, LinkCargo sent) : codec(link_codec(format, sent, numbers, slots)) {
    message.resize(static_cast<std::size_t>(codec->bytes({0, kNumbers})));
  }
  // Own message out; then both hosts' messages make the sum.
  double per_value() {
    return quickest([&](GradRange range) {
      codec->encode(range, LinkCodec::Sum::own, message);
      codec->decode(message, range);
      codec->add(message, range);
    });
  }
};

// Codes until it ends, as a leader's thread does that carries weight changes.
class Carrier {
 public:
  Carrier()
      : thread_([this] {
          Coding coding(LinkFormat::int8, LinkCargo::changes);
          while (!over_) coding.per_value();
        }) {}
  ~Carrier() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// A sum of two buffers, of which mode local does several: in the step what arrives is added to the
// weights by every worker, on cores and memory that carriers use, too; beside it the difference
// that leaves, the anchor's, and those around the mean.
double sum_per_value(bool beside_carrier) {
  constexpr std::int64_t kSummed = 1 << 22, kPasses = 6;
  const std::vector<float> from(kSummed, 1e-3f);
  std::vector<float> to(kSummed);
  std::optional<Carrier> carrier;
  if (beside_carrier) carrier.emplace();
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t pass = 0; pass < kPasses; ++pass) add_floats(from, to);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(kPasses * kSummed);
}
constexpr double kSumsInStep = 1, kSumsBeside = 5;

// Numbers of a GPU: to memory, where they are coded, and back.
double copies_per_value(const CodecPlace& place) {
  const Staging numbers(at::zeros({kTries * kNumbers}, place.device), place.as_on_gpu);
  return quickest([&](GradRange range) {
    numbers.fetch(range);
    numbers.bring_back(range);
  });
}

// What Torch does there with whole numbers of two hosts.
double tensors_per_value(const CodecPlace& place, at::ScalarType type) {
  const at::Tensor all = at::zeros({kTries * kNumbers}, place.device);
  return quickest([&](GradRange range) {
    const at::Tensor numbers = all.narrow(0, range.begin, range.end - range.begin);
    const at::Tensor message = numbers.to(type, false, true);
    numbers.copy_(message);
    numbers.add_(message.to(at::kFloat));
    (void)numbers.narrow(0, 0, 1).item<float>();  // a GPU has finished when the number is here
  });
}

}  // namespace

void measure_codecs(SoftwareCost& software, const CodecPlace& place) {
  const bool on_gpu = place.device.is_cuda() || place.as_on_gpu;
  // Where all the carrier's work is counted, its being in the way is not. A GPU adds in no time.
  const double sum = on_gpu ? 0 : sum_per_value(place.leads && !place.computing_takes_all);
  if (!place.leads) return;
  const double copies = on_gpu ? copies_per_value(place) : 0;
  const auto whole = [&](LinkFormat format, at::ScalarType type) {
    return on_gpu ? tensors_per_value(place, type)
                  : Coding(format, LinkCargo::gradients).per_value();
  };
  const auto cost = [&](Scheme scheme) -> double& {
    return software.codec_per_value.at(static_cast<std::size_t>(scheme));
  };
  cost(Scheme::exact_fp32) = whole(LinkFormat::fp32, at::kFloat);
  cost(Scheme::exact_bf16) = whole(LinkFormat::bf16, at::kBFloat16);
  cost(Scheme::int8) = copies + Coding(LinkFormat::int8, LinkCargo::gradients).per_value();
  cost(Scheme::int4) = copies + Coding(LinkFormat::int4, LinkCargo::gradients).per_value();
  const double beside = place.computing_takes_all ? 1 : 0, in_step = copies + kSumsInStep * sum;
  cost(Scheme::local_int8) = in_step + beside * (cost(Scheme::int8) + kSumsBeside * sum);
  cost(Scheme::local_int4) = in_step + beside * (cost(Scheme::int4) + kSumsBeside * sum);
}

}  // namespace tandem
