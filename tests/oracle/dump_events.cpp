// dump_events FOLDER: a made-up run as TensorBoard files: 1500 steps, three evaluations, samples of
// two hosts; then a second start that resumes from step 1000 and makes 20 other steps.
// tests/oracle/test_tensorboard.py reads them with the real tensorboard.
#include "base/format.h"
#include "observe/tensorboard.h"

namespace tandem {
namespace {

StepRecord step(std::int64_t number, double loss) {
  StepRecord record;
  record.step = number;
  record.loss = loss;
  record.nll = loss - 0.5;
  record.tokens = 1000;
  record.lr = 0.001;
  record.grad_norm = 0.75;
  record.seconds = {.total = 0.5,
                    .data = 0.01,
                    .forward = 0.1,
                    .backward = 0.2,
                    .exchange = 0.1,
                    .wait = 0.05,
                    .optimizer = 0.03,
                    .other = 0.01};
  record.bytes_out = 4000;
  record.bytes_in = 2000;
  return record;
}

EvalRecord eval(std::int64_t number) {
  EvalRecord record;
  record.step = number;
  record.val_loss = 2.25;
  record.train_loss = 2;
  record.bleu = 30.5;
  record.chrf = 55.5;
  record.samples = {{"A dog <script>alert(1)</script>", "Ein **Hund**", "Ein Hund\n# no heading"}};
  return record;
}

SystemRecord system(const std::string& host) {
  SystemRecord record;
  record.host = host;
  record.cpu = 0.5;
  record.gpus = {{"G", 0.9, 4e9, 16e9, 200.0, 60.0}};
  return record;
}

void dump(const fs::path& folder) {
  double time = 1000;
  const auto now = [&] { return time += 0.5; };
  const Json facts =
      Json::object().set("settings", Json::object().set("run", "</script><b>\n## x"));
  {
    TensorBoard board(folder, "a", now);
    board.on_run({{}, facts});
    for (std::int64_t number = 1; number <= 1500; ++number) {
      board.on_step(step(number, 10.0 / static_cast<double>(number)));
      if (number % 500 == 0) board.on_eval(eval(number));
    }
    board.on_system(system("a"));
    board.on_system(system("b"));
    board.on_end({});
  }
  TensorBoard board(folder, "a", now);
  board.on_run({1000, facts});
  for (std::int64_t number = 1001; number <= 1020; ++number) board.on_step(step(number, 77));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tandem::dump(argv[1]);
}
