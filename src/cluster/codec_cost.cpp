#include "cluster/codec_cost.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "cluster/least_seconds.h"
#include "cluster/link_codec.h"
#include "cluster/wire_codec.h"

namespace tandem {
namespace {

// Each try has numbers of its own, which no cache holds any more.
constexpr std::int64_t kTries = 3, kNumbers = 1 << 20;

template <class Work>
double quickest(Work&& work) {
  return least_seconds(kTries,
                       [&](std::int64_t i) {
                         work(GradRange{i * kNumbers, (i + 1) * kNumbers});
                       }) /
         static_cast<double>(kNumbers);
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

}  // namespace

void measure_codecs(SoftwareCost& software, const CodecPlace& place) {
  // Where all the carrier's work is counted, its being in the way is not. A GPU adds in no time.
  const double sum = place.gpu ? 0 : sum_per_value(place.leads && !place.computing_takes_all);
  if (!place.leads) return;
  const auto coded = [](LinkFormat format) {
    return Coding(format, LinkCargo::gradients).per_value();
  };
  const auto cost = [&](Scheme scheme) -> double& {
    return software.codec_per_value.at(static_cast<std::size_t>(scheme));
  };
  cost(Scheme::exact_fp32) = place.gpu ? place.gpu->whole_fp32 : coded(LinkFormat::fp32);
  cost(Scheme::exact_bf16) = place.gpu ? place.gpu->whole_bf16 : coded(LinkFormat::bf16);
  const double copies = place.gpu ? place.gpu->copies : 0;
  cost(Scheme::int8) = copies + coded(LinkFormat::int8);
  cost(Scheme::int4) = copies + coded(LinkFormat::int4);
  const double beside = place.computing_takes_all ? 1 : 0, in_step = copies + kSumsInStep * sum;
  cost(Scheme::local_int8) = in_step + beside * (cost(Scheme::int8) + kSumsBeside * sum);
  cost(Scheme::local_int4) = in_step + beside * (cost(Scheme::int4) + kSumsBeside * sum);
}

}  // namespace tandem
