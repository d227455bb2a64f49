#include "base/byte_source.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <fstream>

#include "base/temporary_folder.h"
#include "base/test_gzip.h"

namespace tandem {

std::string gzip(std::string_view text) {
  z_stream zlib{};
  deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&zlib, text.size()), '\0');
  std::string input(text);  // zlib wants bytes it might write to
  zlib.next_in = reinterpret_cast<Bytef*>(input.data());
  zlib.avail_in = static_cast<uInt>(input.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

TEST(ByteSource, UnpacksWhatIsPackedAndCountsBytesOnDisk) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "bytes";
  std::string text;
  for (std::int64_t i = 0; i < 100'000; ++i) text += static_cast<char>(i * i % 251);
  for (const std::string& contents :
       {text, gzip(text), gzip(text) + gzip(""), gzip(text) + std::string(300'000, '\0')}) {
    std::ofstream(path, std::ios::binary) << contents;
    const auto source = open_bytes(path);
    std::string read;
    std::array<char, 1000> piece{};
    while (const std::size_t n = source->read(piece)) read.append(piece.data(), n);
    EXPECT_EQ(read, text);
    EXPECT_EQ(source->bytes_read(), contents.size());
    EXPECT_EQ(source->read(piece), 0U);
  }
}

}  // namespace tandem
