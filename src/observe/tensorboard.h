// tensorboard: the run as TensorBoard shows it. Tags: train/loss, train/nll, train/lr,
// train/grad_norm, train/loss_scale, speed/steps_per_s, speed/tokens_per_s, time/PHASE (seconds of
// a step), net/bytes_out_per_s, net/bytes_in_per_s, valid/loss, valid/train_slice_loss, valid/bleu,
// valid/chrf, system/..., and the texts samples and settings.
//
// Points lie ever further apart (every step, then every thousandth part of the steps done, at most
// kMostStepsOfAPoint) and are means over the steps between them: a long run stays quick to open.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "observe/event_file.h"
#include "observe/observer.h"

namespace tandem {

inline constexpr std::int64_t kMostStepsOfAPoint = 100;

// How many steps the point at this step stands for.
std::int64_t steps_of_a_point(std::int64_t step);

class TensorBoard final : public Observer {
 public:
  // The file is made by the first record. now: seconds since 1970.
  TensorBoard(fs::path folder, std::string host, std::function<double()> now);

  void on_run(const RunRecord& record) override;
  void on_step(const StepRecord& record) override;
  void on_eval(const EvalRecord& record) override;
  void on_samples(const SamplesRecord& record) override;
  void on_system(const SystemRecord& record) override;
  void on_end(const EndRecord& record) override;

 private:
  struct Sums {  // of the steps since the last point
    double steps = 0, tokens = 0, loss = 0, nll = 0, grad_norm = 0, bytes_out = 0, bytes_in = 0;
    StepSeconds seconds;
  };
  EventFile& file();
  void write_point();

  fs::path folder_;
  std::string host_;
  std::function<double()> now_;
  std::optional<EventFile> file_;
  Sums sums_;
  StepRecord last_;
};

}  // namespace tandem
