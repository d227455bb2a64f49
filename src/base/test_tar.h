// test_tar: tar archives for tests.
#pragma once

#include <string>

#include "base/format.h"

namespace tandem {

// The header of 512 bytes with the checksum that its other bytes have.
inline std::string with_tar_checksum(std::string header) {
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 6, format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

// A ustar header; its size field may be given as it is to be written.
inline std::string tar_header(const std::string& name, const std::string& size, char kind = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  header.replace(124, size.size(), size);
  header[156] = kind;
  header.replace(257, 8, std::string("ustar\00000", 8));
  return with_tar_checksum(std::move(header));
}

inline std::string tar_entry(const std::string& name, const std::string& contents,
                             char kind = '0') {
  const std::string padding((512 - contents.size() % 512) % 512, '\0');
  return tar_header(name, format("{:011o}", contents.size()), kind) + contents + padding;
}

inline const std::string kTarEnd(1024, '\0');

}  // namespace tandem
