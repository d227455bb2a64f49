// Text in tar archives, as test sets lie in them (.sgm) and as plain lines.
#include "base/error.h"
#include "base/test_tar.h"
#include "data/text_reader.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

// Changed headers get the checksum that they ought to have, or nothing behind it would be read.
std::string with_checksums(std::string_view input) {
  std::string archive(input);
  for (std::size_t at = 0; at + 512 <= archive.size(); at += 512) {
    if (archive.compare(at + 257, 5, "ustar") == 0)
      archive.replace(at, 512, with_tar_checksum(archive.substr(at, 512)));
  }
  return archive;
}

void read_any_archive(std::string_view input) {
  const fs::path path = scratch_file("archive.tar", with_checksums(input));
  std::size_t refused = 0;
  const std::vector<std::string> members{"a.txt", "d/b.sgm"};
  for (const std::string& member : members) {
    try {
      TextFiles files;
      files.places = {{path, member}};
      TextReader lines(files);
      for (std::string_view line; lines.next(line);)
        check(line.find('\n') == line.npos, "a line has a line in it");
    } catch (const UserError&) {
      if (++refused == members.size()) throw;
    }
  }
}

std::vector<std::string> archive_seeds() {
  const std::string plain = tar_entry("a.txt", "one\ntwo\r\n\nthree");
  const std::string set = tar_entry(
      "d/b.sgm", "<srcset><doc>\n<seg id=\"1\"> A dog  runs. </seg>\n<seg>x &amp; y</seg>");
  return {plain + kTarEnd, plain + set + kTarEnd, set};
}

const FuzzTarget kArchiveTarget{"archive", read_any_archive, archive_seeds, 1000};

}  // namespace
}  // namespace tandem
