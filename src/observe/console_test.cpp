#include "observe/console.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/temporary_folder.h"
#include "observe/step_timer.h"

namespace tandem {
namespace {

TEST(Console, TheLineHasWhatAPersonAsksFor) {
  Standing now;
  now.step.step = 400;
  now.step.loss = 2.34567;
  now.step.lr = 0.00098;
  now.tokens_per_second = 12345.6;
  now.seconds_per_step = 0.5;
  now.seconds_of_training = 1800;
  ConsoleSetting setting;
  EXPECT_EQ(standing_text(now, setting),
            "step 400  epoch 1  loss 2.3457  lr 0.00098  12346 tokens/s");
  setting.last_step = 1000;
  setting.cost_per_hour = 3;
  setting.currency = "EUR";
  now.eval = EvalRecord{};
  now.eval->val_loss = 2.5;
  now.eval->bleu = 38.456;
  now.step.skipped = true;
  now.step.loss_scale = 1024;
  EXPECT_EQ(standing_text(now, setting),
            "step 400/1000  epoch 1  loss 2.3457  val 2.5000  BLEU 38.46  lr 0.00098  12346 "
            "tokens/s  scale 1024  overflow, step skipped  5 min left  1.50 EUR");
}

TEST(Console, OneWordForWhatHoldsTheStepsUp) {
  StepSeconds spent;
  EXPECT_EQ(bound_text(spent), "");
  spent.total = 10;
  spent.backward = 9.1;
  spent.exchange = 0.9;
  EXPECT_EQ(bound_text(spent), "");
  spent.exchange = 7.1;
  spent.wait = 1.5;
  EXPECT_EQ(bound_text(spent), "network-bound 71 %");
  spent.wait = 7.5;
  EXPECT_EQ(bound_text(spent), "waiting for the slowest worker 75 %");
  spent.exchange = spent.wait = 0;
  spent.data = 2;
  EXPECT_EQ(bound_text(spent), "data-bound 20 %");
}

TEST(Console, TheLogHasThePlainLines) {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log";
  {
    Console console({.log_every = 10}, log);
    for (std::int64_t number = 1; number <= 25; ++number) {
      StepRecord record;
      record.step = number;
      console.on_step(record);
    }
    console.on_event({25, "warning", "the disk is full"});
    console.on_event({25, "resume", "odd \x1b]0;name\x07\nstep 99 "});
    console.on_end({25, "error", "a file named x\ntandem: done, all is well", 1, 2});
  }
  const std::string text = read_file(log);
  EXPECT_NE(text.find("step 10 "), std::string::npos);
  EXPECT_NE(text.find("step 20 "), std::string::npos);
  EXPECT_EQ(text.find("step 25 "), std::string::npos);
  EXPECT_NE(text.find("warning: the disk is full"), std::string::npos);
  EXPECT_NE(text.find("odd ?]0;name??step 99"), std::string::npos) << "what files say is text";
  EXPECT_NE(text.find("named x\n  tandem: done"), std::string::npos) << "no line of its own";
}

// Standard error as a pipe, back to what it was at the end.
class PipedStderr {
 public:
  PipedStderr() : was_(::dup(STDERR_FILENO)) {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    ::dup2(ends_[1], STDERR_FILENO);
  }
  ~PipedStderr() {
    ::dup2(was_, STDERR_FILENO);
    for (const int fd : {was_, ends_[0], ends_[1]}) ::close(fd);
  }
  PipedStderr(const PipedStderr&) = delete;
  PipedStderr& operator=(const PipedStderr&) = delete;

  std::string read_all() const {
    std::string text(1 << 20, 0);
    const ssize_t got = ::read(ends_[0], text.data(), text.size());
    return text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }

 private:
  int was_, ends_[2] = {-1, -1};
};

TEST(Console, NobodyWhoReadsStopsNothing) {
  const TemporaryFolder folder;
  const PipedStderr screen;
  Console console({}, folder.path() / "log");
  const std::string line(1000, 'x');
  for (int i = 0; i < 500; ++i) console.say(line);  // a pipe holds 64 KiB
  EXPECT_GT(fs::file_size(folder.path() / "log"), 500'000);
  EXPECT_THAT(screen.read_all(), testing::StartsWith(line));
  console.say("and on");
  EXPECT_THAT(screen.read_all(),
              testing::ContainsRegex("tandem: 4[0-9]+ lines found no reader.*\nand on\n"));
}

TEST(StepTimer, PhasesAndTheRestAddUpToTheTotal) {
  using namespace std::chrono_literals;
  StepTimer timer;
  const int value = timer.measure(&StepSeconds::forward, [] {
    std::this_thread::sleep_for(2ms);
    return 7;
  });
  std::this_thread::sleep_for(2ms);
  const StepSeconds s = timer.result();
  EXPECT_EQ(value, 7);
  EXPECT_GE(s.forward, 0.002);
  EXPECT_GE(s.other, 0.002);
  EXPECT_NEAR(s.total, s.forward + s.other, 1e-9);
}

}  // namespace
}  // namespace tandem
