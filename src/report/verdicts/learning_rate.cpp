// Learning rate too high or too low? Too high: the loss rose on the way and came back, or never
// did. Too low: it still falls in a straight line, as far in the later half as in the earlier one.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/verdicts/loss_blocks.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kFewestBlocks = 8;
constexpr double kStraight = 0.75;     // later half's fall to the earlier half's
constexpr double kStillFalling = 0.1;  // of the loss, since the highest rate was reached

struct Bump {
  double rise = 0;
  LossBlock at;
};

// The highest rise above the best loss before it.
Bump highest_bump(const std::vector<LossBlock>& blocks) {
  Bump bump;
  double best = blocks.front().loss;
  for (const LossBlock& block : blocks) {
    if (block.loss - best > bump.rise) bump = {block.loss - best, block};
    best = std::min(best, block.loss);
  }
  return bump;
}

// Fall of the later half to that of the earlier half.
double straightness(const std::vector<LossBlock>& blocks) {
  const std::size_t middle = blocks.size() / 2;
  const double early = blocks.front().loss - blocks[middle].loss;
  const double late = blocks[middle].loss - blocks.back().loss;
  return early > 0 ? late / early : 0;
}

constexpr const char* kLowerIt =
    "lower optim.lr by half, raise optim.warmup_steps, or set optim.clip=1";

}  // namespace

Finding judge_learning_rate(const Judged& run) {
  Finding f{.key = "learning_rate", .question = "Was the learning rate too high or too low?"};
  if (const std::size_t rollbacks = rollbacks_of(run.log); rollbacks > 0) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = Confidence::high;
    f.evidence.set("direction", "high").set("rollbacks", rollbacks);
    f.text = format("yes, too high: training diverged {} and went back",
                    rollbacks == 1 ? "once" : format("{} times", rollbacks));
    f.advice = kLowerIt;
    return f;
  }
  const LossBlocks all = loss_blocks(run.log.steps);
  if (all.blocks.size() < kFewestBlocks) {
    return cannot_tell(std::move(f), format("there are only {} steps", run.log.steps.size()),
                       "train longer");
  }
  const auto highest = std::ranges::max_element(all.blocks, {}, &LossBlock::lr);
  const std::vector<LossBlock> after(highest, all.blocks.end());
  const Bump bump = highest_bump(all.blocks);
  const double counts = rise_that_counts(all, bump.at.loss - bump.rise);
  f.evidence.set("highest_lr", highest->lr).set("highest_rise", bump.rise);
  f.evidence.set("rise_that_counts", counts);
  if (bump.rise > counts) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = bump.rise > 2 * counts ? Confidence::high : Confidence::medium;
    f.evidence.set("direction", "high").set("step", bump.at.first_step);
    f.text =
        format("yes, too high: around step {}, at a rate of {:.3g}, training loss rose by {:.3f}",
               bump.at.first_step, bump.at.lr, bump.rise);
    f.advice = kLowerIt;
    return f;
  }
  if (after.size() < kFewestBlocks) {
    return cannot_tell(std::move(f),
                       format("the highest rate was reached only at step {} of {}",
                              highest->last_step, run.totals.steps),
                       "train longer, or lower optim.warmup_steps");
  }
  const double fall = (after.front().loss - after.back().loss) / std::abs(after.back().loss);
  const double straight = straightness(after);
  f.evidence.set("straightness", straight).set("fall_share", fall);
  if (straight > kStraight && fall > kStillFalling) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = Confidence::medium;
    f.evidence.set("direction", "low");
    f.text = format(
        "yes, likely too low: the loss fell nearly as far in the later half ({:.0f} % of the "
        "earlier) and does not bend",
        100 * straight);
    f.advice = "raise optim.lr two- to fourfold and compare a few thousand steps";
    return f;
  }
  f.verdict = Ruling::no;
  f.confidence = Confidence::medium;
  f.evidence.set("direction", "fine");
  f.text = "no: the loss fell without rising again, and bends as it should";
  return f;
}

}  // namespace tandem
