// Messages of gradients between hosts. Their sizes are known to both ends; their bytes may be
// anything.
#include "cluster/link_codec.h"

#include <bit>
#include <cmath>

#include "base/error.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

constexpr std::size_t kMostNumbers = 20000;  // more than what is worth coding, twice

// The bytes are repeated or cut to fit.
std::vector<std::uint8_t> message_of(std::string_view bytes, std::size_t size) {
  std::vector<std::uint8_t> message(size);
  for (std::size_t i = 0; i < size; ++i) {
    message[i] = bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes[i % bytes.size()]);
  }
  return message;
}

void read_any_message(std::string_view input) {
  const auto parts = split_parts(input, 2);
  const auto byte = [&](std::size_t i) {
    return i < parts[0].size() ? static_cast<unsigned char>(parts[0][i]) : 0u;
  };
  const auto count = static_cast<std::int64_t>((byte(0) + 256 * byte(1)) % kMostNumbers + 1);
  const std::int64_t cut = (byte(2) + 256 * byte(3)) % (count + 1);
  const std::int64_t begin = (byte(4) + 256 * byte(5)) % count;  // no message is empty
  const std::vector<GradRange> slots{{0, cut}, {cut, count}};
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (const LinkFormat format :
       {LinkFormat::fp32, LinkFormat::bf16, LinkFormat::int8, LinkFormat::int4}) {
    const auto cargo = byte(6) % 2 == 0 ? LinkCargo::gradients : LinkCargo::changes;
    const auto codec = link_codec(format, cargo, numbers, slots);
    const GradRange range{begin, count};
    auto message = message_of(parts[1], static_cast<std::size_t>(codec->bytes(range)));
    codec->decode(message, range);
    codec->add(message, range);
    codec->encode(range, LinkCodec::Sum::own, message);
    codec->encode(range, LinkCodec::Sum::all, message);
    codec->end_step();
  }
}

std::vector<std::string> codec_seeds() {
  std::vector<std::string> seeds;
  for (const int count : {1, 300, 4096, 19000}) {
    std::string head;
    for (const int number : {count - 1, count / 2, count / 3, 0}) {
      head += {static_cast<char>(number & 0xff), static_cast<char>(number >> 8)};
    }
    seeds.push_back(
        joined_parts(std::vector<std::string>{head, std::string("\x80\x3f\x01\xff\x7f\xc0", 6)}));
  }
  return seeds;
}

const FuzzTarget kCodecTarget{"codec", read_any_message, codec_seeds, 300};

}  // namespace
}  // namespace tandem
