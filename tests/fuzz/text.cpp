// Text files, plain and gzip.
#include "base/text_file.h"

#include <optional>

#include "base/error.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

void read_any_text(std::string_view input) {
  const fs::path path = scratch_file("text", input);
  std::optional<std::uint64_t> counted;
  for (const std::size_t most : {std::size_t{8}, std::size_t{1} << 20}) {
    for (const LineEnds ends : {LineEnds::clean, LineEnds::raw}) {
      LineReader lines(path, most, ends);
      std::uint64_t count = 0;
      for (std::string_view line; lines.next(line);) {
        check(line.size() <= most, "a line is longer than the limit");
        check(lines.line_number() == ++count, "lines are counted wrongly");
      }
      check(counted.value_or(count) == count, "how lines are read changes how many there are");
      counted = count;
    }
  }
}

std::vector<std::string> text_seeds() {
  // "a b\r\nlonger than eight\n" as gzip writes it.
  const std::string_view gzip(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x54\x48\xe2\xe5\xca\xc9\xcf\x4b\x4f\x2d\x52"
      "\x28\xc9\x48\xcc\x53\x48\xcd\x4c\xcf\x28\xe1\x02\x00\x4d\xda\x23\x24\x17\x00\x00\x00",
      43);
  return {"a b\r\nb\n\n\xef\xbb\xbfx",
          "\xef\xbb\xbf\xc3\xa4 long line beyond the limit \xf0\x9f\x98\x80\n", std::string(gzip),
          std::string(gzip) + std::string(gzip)};
}

const FuzzTarget kTextTarget{"text", read_any_text, text_seeds, 1000};

}  // namespace
}  // namespace tandem
