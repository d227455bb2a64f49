#include "cluster/codec_cost.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "cluster/link_codec.h"
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

// A sum of two buffers, of which mode local does several: in the step the difference that leaves
// and the two that arrive; beside it those around the mean.
double sum_per_value(std::vector<float>& from, std::vector<float>& to) {
  return quickest([&](GradRange range) {
    const auto begin = static_cast<std::size_t>(range.begin);
    add_floats(std::span(from).subspan(begin, kNumbers), std::span(to).subspan(begin, kNumbers));
  });
}
constexpr double kSumsInStep = 3, kSumsBeside = 3;

}  // namespace

void measure_codecs(SoftwareCost& software, bool computing_takes_all) {
  const auto cost = [&](Scheme scheme) -> double& {
    return software.codec_per_value.at(static_cast<std::size_t>(scheme));
  };
  cost(Scheme::exact_fp32) = Coding(LinkFormat::fp32, LinkCargo::gradients).per_value();
  cost(Scheme::exact_bf16) = Coding(LinkFormat::bf16, LinkCargo::gradients).per_value();
  cost(Scheme::int8) = Coding(LinkFormat::int8, LinkCargo::gradients).per_value();
  Coding int4(LinkFormat::int4, LinkCargo::gradients);
  cost(Scheme::int4) = int4.per_value();
  std::vector<float> other = some_numbers();
  const double sum = sum_per_value(int4.numbers, other);
  const double beside = computing_takes_all ? 1 : 0;
  cost(Scheme::local_int8) = kSumsInStep * sum + beside * (cost(Scheme::int8) + kSumsBeside * sum);
  cost(Scheme::local_int4) = kSumsInStep * sum + beside * (cost(Scheme::int4) + kSumsBeside * sum);
}

}  // namespace tandem
