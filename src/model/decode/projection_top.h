// projection_top: from the decoder's output to the likeliest words, without a table of all scores.
// The product runs in blocks that stay in the nearest caches; of each block a row keeps its largest
// scores and the running sum of exp.
#pragma once

#include <span>
#include <vector>

#include "model/decode/step_matrix.h"
#include "model/decode/top_list.h"

namespace tandem {

class ProjectionTop {
 public:
  // output [words, D], without bias; it outlives this.
  ProjectionTop(const StepMatrix& output, WordChoice choice);
  // hidden [rows, D].
  void run(const float* hidden, std::size_t rows, WordTable& words);

 private:
  struct Row {
    TopList list;
    float most;    // score
    double total;  // sum of exp(score - most)
  };
  void add_block(Row& row, float* scores, std::int64_t first, std::int64_t last, float& end) const;

  const StepMatrix& output_;
  WordChoice choice_;
  std::vector<Row> rows_;
  std::vector<float> scores_;
  StepInput input_;
};

}  // namespace tandem
