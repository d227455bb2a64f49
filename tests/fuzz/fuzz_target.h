// fuzz_target: a parser of bytes from outside, with inputs to begin from. Every other file of this
// folder registers one; libFuzzer drives it (scripts/fuzz), and every run of the unit tests does
// for a few thousand changed inputs (replay.cpp).
//
//   const FuzzTarget kJsonTarget{"json", read_any_json, json_seeds};
//
// To refuse an input (UserError, EnvError) is right. A crash, a sanitizer's report, a hang, any
// other exception and a check() that fails are findings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace tandem {

class FuzzTarget {
 public:
  using Run = void (*)(std::string_view input);
  using Seeds = std::vector<std::string> (*)();

  // make_seeds: inputs that are taken, made by our own writers. replay_count: changed inputs in a
  // unit test.
  FuzzTarget(std::string parser, Run run, Seeds make_seeds, int replay_count = 3000);
  FuzzTarget(const FuzzTarget&) = delete;
  FuzzTarget& operator=(const FuzzTarget&) = delete;

  const std::string& name() const { return name_; }
  int replays() const { return replays_; }
  std::vector<std::string> seeds() const { return seeds_(); }
  bool takes(std::string_view input) const;  // false: it was refused

  static std::span<const FuzzTarget* const> all();  // of this program

 private:
  std::string name_;
  Run run_;
  Seeds seeds_;
  int replays_;
};

// A file with these contents in a folder that goes away with the process, for parsers of files.
fs::path scratch_file(const std::string& name, std::string_view contents);
fs::path scratch_folder();

// An input of several parts: all but the last begin with their length in two bytes.
std::string joined_parts(std::span<const std::string> parts);
// Exactly so many; missing ones are empty.
std::vector<std::string_view> split_parts(std::string_view input, std::size_t count);

// The first 8 bytes at a place become a number, where there are as many.
void put_number(std::string& bytes, std::size_t at, std::uint64_t number);

}  // namespace tandem
