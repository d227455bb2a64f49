// adam: the update of the weights (Kingma and Ba 2015; decoupled weight decay, Loshchilov and
// Hutter 2019), with clipping by global norm and an exponential average of the weights.
// One pass over flat buffers. On the CPU the result does not depend on the number of threads.
//
// Its state (moments, average) is whole or, of sharded state, what this worker keeps of it: then a
// step reads gradients and changes weights there only, and weights, norms and states of all workers
// together are to the bit those of an unsharded step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/shard_plan.h"
#include "config/optim_config.h"
#include "model/flat_params.h"

namespace tandem {

struct AdamFactors;

struct UpdateStats {
  double grad_norm = 0;  // of the gradient times its factor, before clipping
  bool finite = true;    // false: nothing was changed
};

// Rows of these slots that got no gradient keep weights and moments (lazy Adam). They are the
// embeddings that only the tokens of a batch touch: not those tied to the output layer.
std::vector<std::size_t> lazy_slots(const FlatParams& params);

// plain: Torch's operations, on any device; fast: loops of our own on the CPU, plain elsewhere.
enum class AdamLoop { fast, plain };

// Whose state an Adam has. Several workers need the fast loop.
struct AdamShard {
  int worker = 0, workers = 1;
  std::function<void(std::span<double>)> add_up = {};  // sums of all workers, in place
};

class Adam {
 public:
  // Moments are zero; the average too, until start_average().
  Adam(FlatParams& params, const OptimConfig& config, AdamLoop loop = AdamLoop::fast,
       AdamShard shard = {});

  // update: 1 for the first. factor turns the summed, scaled gradients into those of the mean loss:
  // 1 / (tokens * loss scale). Of sharded state all workers call it, and weights that others keep
  // are old afterwards.
  UpdateStats step(std::int64_t update, double lr, double factor);

  void start_average();  // at the values of now
  void set_clip(double clip) { config_.clip = clip; }

  // Buffers laid out like the parameters, or this worker's shard; averaged() is undefined when it
  // is off.
  const Tensor& first_moment() const { return first_; }
  const Tensor& second_moment() const { return second_; }
  const Tensor& averaged() const { return averaged_; }

  const ShardPlan& plan() const { return plan_; }
  bool sharded() const { return plan_.sharded(); }
  // What this worker keeps of a buffer like the parameters, as a new shard.
  Tensor shard_of(const Tensor& flat) const;

 private:
  struct Span {
    std::int64_t begin, end;
    std::int64_t row = 0;  // elements of a row that is judged as a whole; 0: all are updated
  };
  // What is updated at once; place: in the buffers of the state.
  struct Piece {
    std::size_t index;  // in the plan
    Span span;
    std::int64_t place;
  };
  void cut_pieces();
  double norm_of_gradients() const;
  void step_on_cpu(const AdamFactors& factors);
  void update_piece(const Piece& piece, const AdamFactors& factors);
  void step_with_tensors(const AdamFactors& factors);

  FlatParams& params_;
  OptimConfig config_;
  bool fast_;
  AdamShard shard_;
  std::vector<Span> spans_;  // cover the parameters
  ShardPlan plan_;
  std::vector<Piece> own_;  // pieces of this worker
  Tensor first_, second_, averaged_;
};

}  // namespace tandem
