#include "fuzz_target.h"

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

constexpr std::size_t kLengthBytes = 2;

std::vector<const FuzzTarget*>& registered() {
  static std::vector<const FuzzTarget*> targets;
  return targets;
}

}  // namespace

FuzzTarget::FuzzTarget(std::string parser, Run run, Seeds make_seeds, int replay_count)
    : name_(std::move(parser)), run_(run), seeds_(make_seeds), replays_(replay_count) {
  registered().push_back(this);
}

bool FuzzTarget::takes(std::string_view input) const try {
  run_(input);
  return true;
} catch (const Error& error) {
  if (error.code() == ExitCode::internal) throw;
  return false;
}

std::span<const FuzzTarget* const> FuzzTarget::all() {
  return registered();
}

fs::path scratch_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

fs::path scratch_file(const std::string& name, std::string_view contents) {
  const fs::path path = scratch_folder() / name;
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

std::string joined_parts(std::span<const std::string> parts) {
  std::string input;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t size = parts[i].size();
    if (i + 1 < parts.size()) {
      check(size < 1 << 16, "a part of a seed is too long");
      input += static_cast<char>(size & 0xff);
      input += static_cast<char>(size >> 8);
    }
    input += parts[i];
  }
  return input;
}

std::vector<std::string_view> split_parts(std::string_view input, std::size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count) {
    std::size_t size = 0;
    if (input.size() >= kLengthBytes) {
      size = static_cast<unsigned char>(input[0]) + 256u * static_cast<unsigned char>(input[1]);
      input.remove_prefix(kLengthBytes);
    }
    parts.push_back(input.substr(0, size));
    input.remove_prefix(parts.back().size());
  }
  parts.push_back(input);
  return parts;
}

void put_number(std::string& bytes, std::size_t at, std::uint64_t number) {
  if (bytes.size() < at + sizeof number) return;
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

}  // namespace tandem
