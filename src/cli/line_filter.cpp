#include "cli/line_filter.h"

#include <unistd.h>

#include <cstdio>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/ordered_pipeline.h"
#include "base/text_file.h"

namespace tandem {
namespace {

constexpr std::size_t kBlockBytes = 1 << 17;

struct Block {
  std::uint64_t first_line = 0;
  std::string text, out;
  std::vector<std::size_t> ends;  // in text
};

}  // namespace

void filter_lines(std::size_t threads, const std::function<LineAction()>& make_action) {
  const bool interactive = ::isatty(STDIN_FILENO) == 1;  // each line is answered at once
  const std::size_t block_bytes = interactive ? 0 : kBlockBytes;
  LineReader reader("-", std::numeric_limits<std::size_t>::max(), LineEnds::raw);
  const auto read = [&](Block& block) {
    block.text.clear();
    block.ends.clear();
    block.first_line = reader.line_number() + 1;
    const auto has_room = [&] { return block.ends.empty() || block.text.size() < block_bytes; };
    for (std::string_view line; has_room() && reader.next(line);) {
      block.text.append(line);
      block.ends.push_back(block.text.size());
    }
    return !block.ends.empty();
  };
  const auto make_worker = [&] {
    return [action = make_action()](Block& block) {
      block.out.clear();
      std::size_t begin = 0;
      for (std::size_t i = 0; i < block.ends.size(); ++i) {
        try {
          action(std::string_view(block.text).substr(begin, block.ends[i] - begin), block.out);
        } catch (const UserError& error) {
          throw UserError(
              format("standard input, line {}: {}", block.first_line + i, error.what()));
        }
        block.out += '\n';
        begin = block.ends[i];
      }
    };
  };
  const auto write = [interactive](Block& block) {
    if (std::fwrite(block.out.data(), 1, block.out.size(), stdout) != block.out.size() ||
        (interactive && std::fflush(stdout) != 0)) {
      throw EnvError("cannot write to standard output: it is closed or its disk is full");
    }
  };
  ordered_pipeline<Block>(threads, read, make_worker, write);
}

}  // namespace tandem
