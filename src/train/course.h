// course: which checkpoints are of the course that a run is on, after it went back to one of them
// and took another way from there (divergence.h): every checkpoint holds how often that was.
//
// A copy of a checkpoint that is arriving meanwhile is either in place before the run goes back,
// where it is found and deleted, or is refused. For that the check and what follows from it are one
// thing, under order().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/files.h"

namespace tandem {

class Course {
 public:
  // Whoever goes back calls it first, then looks for what is to be deleted.
  void went_back(std::int64_t to_step, std::int64_t times);

  std::mutex& order() { return order_; }
  // Empty: a whole checkpoint that may stay; else why not. The caller holds order().
  std::string problem(const fs::path& checkpoint, std::int64_t step) const;

 private:
  std::mutex order_;  // guards what follows
  std::int64_t back_to_ = -1, times_ = 0;
};

}  // namespace tandem
