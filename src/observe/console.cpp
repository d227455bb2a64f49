#include "observe/console.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "observe/sample_text.h"
#include "observe/seconds_spread.h"

namespace tandem {

using namespace std::chrono_literals;

std::string bound_text(const StepSeconds& spent) {
  struct Cause {
    std::string_view word;
    double seconds;
  };
  const std::array causes = {Cause{"network-bound", spent.exchange},
                             Cause{"waiting for the slowest worker", spent.wait},
                             Cause{"data-bound", spent.data}};
  const Cause& worst = *std::ranges::max_element(causes, {}, &Cause::seconds);
  if (spent.total <= 0 || worst.seconds < 0.1 * spent.total) return {};
  return format("{} {:.0f} %", worst.word, 100 * worst.seconds / spent.total);
}

std::string standing_text(const Standing& now, const ConsoleSetting& setting) {
  const StepRecord& step = now.step;
  std::string text = format("step {}", step.step);
  if (setting.last_step) text += format("/{}", *setting.last_step);
  text += format("  epoch {}  loss {:.4f}", step.epoch + 1, step.loss);
  if (now.eval) {
    text += format("  val {:.4f}", now.eval->val_loss);
    if (now.eval->bleu) text += format("  BLEU {:.2f}", *now.eval->bleu);
  }
  text += format("  lr {:.3g}  {:.0f} tokens/s", step.lr, now.tokens_per_second);
  if (step.loss_scale != 1) text += format("  scale {:.0f}", step.loss_scale);
  if (step.skipped) text += "  overflow, step skipped";
  if (const std::string bound = bound_text(now.spent); !bound.empty()) text += "  " + bound;
  if (setting.last_step && now.seconds_per_step > 0) {
    const auto left = static_cast<double>(*setting.last_step - step.step);
    text += format("  {} left", duration_text(left * now.seconds_per_step));
  }
  if (setting.cost_per_hour) {
    text += format("  {:.2f} {}", now.seconds_of_training / 3600 * *setting.cost_per_hour,
                   setting.currency);
  }
  return text;
}

Console::Console(ConsoleSetting setting, const fs::path& log_file)
    : setting_(std::move(setting)),
      terminal_(!setting_.log_only && ::isatty(STDERR_FILENO) == 1),
      log_(::fdopen(open_own_file(log_file, O_WRONLY | O_APPEND).release(), "a")),
      start_(Clock::now()),
      last_step_(start_),
      next_draw_(start_) {
  if (log_ == nullptr) {
    throw EnvError(format("cannot write {}: {}", log_file.string(), errno_text(errno)));
  }
}

Console::~Console() {
  clear_live();
  std::fclose(log_);
}

void Console::clear_live() {
  if (live_) show("\r\x1b[K");
  live_ = false;
}

// Whoever reads may have stopped for a while (Ctrl-S, a pager): training does not wait for him, or
// the others would give this worker up.
bool Console::show(const std::string& text) {
  pollfd screen{STDERR_FILENO, POLLOUT, 0};
  full_ = ::poll(&screen, 1, full_ ? 0 : 1000) <= 0;
  if (full_) return false;
  if (const auto lines = std::exchange(left_out_, 0); lines > 0) {
    std::fputs(format("tandem: {} lines found no reader, the log has them\n", lines).c_str(),
               stderr);
  }
  std::fputs(text.c_str(), stderr);
  return true;
}

// Failing writes are ignored: the terminal may be gone, the disk full, and training goes on.
void Console::say(const std::string& line) {
  clear_live();
  const std::string text = line + "\n";
  if (!setting_.log_only && !show(text)) ++left_out_;
  std::fputs(text.c_str(), log_);
  std::fflush(log_);
}

void Console::on_step(const StepRecord& record) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_step_).count();
  last_step_ = now;
  constexpr double kFade = 0.98;  // the last fifty steps count
  tokens_late_ = kFade * tokens_late_ + static_cast<double>(record.tokens);
  seconds_late_ = kFade * seconds_late_ + seconds;
  steps_late_ = kFade * steps_late_ + 1;
  for (double StepSeconds::*phase : kStepPhases) {
    standing_.spent.*phase = kFade * standing_.spent.*phase + record.seconds.*phase;
  }
  standing_.step = record;
  standing_.tokens_per_second = tokens_late_ / std::max(seconds_late_, 1e-9);
  standing_.seconds_per_step = seconds_late_ / steps_late_;
  standing_.seconds_of_training =
      setting_.seconds_before + std::chrono::duration<double>(now - start_).count();

  if (record.step % setting_.log_every == 0) {
    say(standing_text(standing_, setting_));
  } else if (terminal_ && now >= next_draw_) {
    show(format("\r{}\x1b[K", fit_to_terminal(standing_text(standing_, setting_))));
    live_ = true;
    next_draw_ = now + 200ms;
  }
}

void Console::on_eval(const EvalRecord& record) {
  standing_.eval = record;
  std::string text = format("step {}  validation loss {:.4f}, training slice {:.4f}", record.step,
                            record.val_loss, record.train_loss);
  if (record.bleu) text += format(", BLEU {:.2f}", *record.bleu);
  if (record.chrf) text += format(", chrF {:.2f}", *record.chrf);
  say(text + format(" ({})", duration_text(record.seconds)));
  on_samples({record.step, record.samples});
}

void Console::on_samples(const SamplesRecord& record) {
  for (const SampleTranslation& sample : record.samples) say(sample_text(sample));
}

void Console::on_event(const EventRecord& record) {
  const std::string_view mark = record.kind == "warning" ? "warning: " : "";
  say(format("tandem: {}{}", mark, without_controls(record.text)));
}

void Console::on_end(const EndRecord& record) {
  if (record.reason == "error") {  // the program prints it itself
    clear_live();
    std::fputs((lines_without_controls(record.text) + "\n").c_str(), log_);
    return;
  }
  std::string text = format("{} after {} and {} target tokens", record.text,
                            duration_text(record.seconds), record.tokens);
  if (setting_.cost_per_hour) {
    text +=
        format(", {:.2f} {}", record.seconds / 3600 * *setting_.cost_per_hour, setting_.currency);
  }
  say(text);
}

}  // namespace tandem
