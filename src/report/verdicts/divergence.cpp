// Diverging? The training loss at the end against the best it has been.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/verdicts/loss_blocks.h"
#include "report/verdicts/verdicts.h"

namespace tandem {

Finding judge_divergence(const Judged& run) {
  constexpr std::size_t kFewestBlocks = 5;
  Finding f{.key = "divergence", .question = "Is the loss diverging?"};
  const auto& steps = run.log.steps;
  const bool not_finite = !steps.empty() && !std::isfinite(steps.back().loss);
  const bool gave_up =
      run.log.ended() && run.log.ends.back().record.text.find("diverged") != std::string::npos;
  if (not_finite || gave_up) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = Confidence::high;
    f.evidence.set("step", steps.empty() ? 0 : steps.back().step);
    f.text = format("yes: at step {} the loss or its gradient was not finite",
                    steps.empty() ? 0 : steps.back().step);
    f.advice =
        "lower optim.lr, raise optim.warmup_steps or set optim.clip=1, then go on from the "
        "newest checkpoint";
    return f;
  }
  const LossBlocks all = loss_blocks(steps);
  if (all.blocks.size() < kFewestBlocks) {
    return cannot_tell(std::move(f), format("there are only {} steps", steps.size()),
                       "train longer");
  }
  const LossBlock& last = all.blocks.back();
  const LossBlock& best = *std::ranges::min_element(all.blocks, {}, &LossBlock::loss);
  const double rise = last.loss - best.loss;
  const double counts = rise_that_counts(all, best.loss);
  f.evidence.set("best_loss", best.loss)
      .set("best_step", best.last_step)
      .set("loss", last.loss)
      .set("rise", rise)
      .set("rise_that_counts", counts);
  if (rise > counts) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = rise > 2 * counts ? Confidence::high : Confidence::medium;
    f.text = format("yes, since step {}: training loss rose from {:.4f} to {:.4f}", best.last_step,
                    best.loss, last.loss);
    f.advice =
        format("go on from a checkpoint before step {} with a lower optim.lr or optim.clip=1",
               best.last_step);
    return f;
  }
  f.verdict = Ruling::no;
  f.confidence = Confidence::high;
  f.text = format("no: training loss {:.4f} at the end, {:.4f} at its best", last.loss, best.loss);
  return f;
}

}  // namespace tandem
